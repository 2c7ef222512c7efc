// A connection with a thread of its own: it waits for its turn, does so many queries of ten rows, and says that it is done. It ends with the
// process.

import { workerData } from "node:worker_threads";
import { CELLS, COUNT, DONE, ERROR_BYTES, QUERIES, SUMS } from "./cells.mjs";
import { connect } from "./driver.mjs";
import { enterPartner, takesPart } from "./kit/kit.mjs";

const ROWS = 10;

const { cells, numbers, errors, index, text } = workerData;
let connection;

function serve() {
  connection ??= connect(); // if it could not be had at first
  let sum = 0;
  const queries = Atomics.load(cells, QUERIES);
  for (let i = 0; i < numbers[COUNT]; i++) {
    takesPart("client");
    sum += queries ? connection.query(text, ROWS) : i;
  }
  numbers[SUMS + index] = sum;
}

/** Does it, and keeps the words of a failure. */
function attempt(what) {
  try {
    what();
  } catch (error) {
    errors.set(Buffer.from(error.message).subarray(0, ERROR_BYTES - 1), index * ERROR_BYTES);
  }
  Atomics.add(cells, DONE, 1);
  Atomics.notify(cells, DONE);
}

attempt(() => {
  enterPartner();
  connection = connect();
});
for (let turn = 0; ; turn++) {
  // A wake-up may come late, when its turn is done already: what counts is the word.
  while (Atomics.load(cells, CELLS + index) === turn) Atomics.wait(cells, CELLS + index, turn);
  attempt(serve);
}
