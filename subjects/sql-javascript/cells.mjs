// What workers share with the main thread: words, numbers, and room for a message each.

/** Words: whose turn it is, how many are done, whether they query, whether they end. */
export const [TURN, DONE, QUERIES, QUIT, CELLS] = [0, 1, 2, 3, 4];

/** The number that says how often; those after it are the workers' sums. */
export const COUNT = 0;

export const ERROR_BYTES = 256;
