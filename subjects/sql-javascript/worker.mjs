// A connection with a thread of its own: it waits for its turn, does so many queries of ten rows, and says that it is done.

import { workerData } from "node:worker_threads";
import { COUNT, DONE, ERROR_BYTES, QUERIES, QUIT, TURN } from "./cells.mjs";
import { connect } from "./driver.mjs";
import { enterPartner, takesPart } from "./kit/kit.mjs";

const ROWS = 10;

const { cells, numbers, errors, index, text } = workerData;
let connection;

function serve() {
  let sum = 0;
  const queries = Atomics.load(cells, QUERIES);
  for (let i = 0; i < numbers[COUNT]; i++) {
    takesPart("client");
    sum += queries ? connection.query(text, ROWS) : i;
  }
  numbers[COUNT + 1 + index] = sum;
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
  Atomics.wait(cells, TURN, turn);
  if (Atomics.load(cells, QUIT)) break;
  attempt(serve);
}
attempt(() => connection?.close());
