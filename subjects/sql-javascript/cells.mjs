// What workers share with the main thread: words, numbers, and room for a message each.

export const CLIENTS_MOST = 16;

/** Words: how many workers are done, whether they query; from CELLS on a word each that counts its turns. */
export const [DONE, QUERIES, CELLS] = [0, 1, 2];

/** Numbers: how often; from SUMS on what each has added up. */
export const [COUNT, SUMS] = [0, 1];

export const ERROR_BYTES = 256;
