// A driver whose calls return when they are done. Connections that are used at once then need a worker each.

import { frame, startPartner } from "./kit/kit.mjs";
import { own } from "./database.mjs";
import { rowsTable } from "./told.mjs";
import { CELLS, CLIENTS_MOST, COUNT, DONE, ERROR_BYTES, QUERIES, SUMS } from "./cells.mjs";

const ANSWER_MS = 60_000;

const times = (iterations, once) => {
  let sum = 0;
  for (let i = 0; i < iterations; i++) sum += once();
  return sum;
};

/** An operation of several steps; it gives `done`. */
const inTurn = (steps, done) => () => {
  for (const step of steps) step();
  return done;
};

const connecting = (connect) => {
  const connection = connect();
  try {
    return connection.query("SELECT 1", 1);
  } finally {
    connection.close();
  }
};

const shared = (bytes) => new SharedArrayBuffer(bytes);

/**
 * Workers with a connection each, as many as any test has asked for. They stay for the next test: a worker compiles all code anew, and
 * would else be measured while it does.
 */
class Workers {
  #cells = new Int32Array(shared(4 * (CELLS + CLIENTS_MOST)));
  #numbers = new Float64Array(shared(8 * (SUMS + CLIENTS_MOST)));
  #errors = new Uint8Array(shared(ERROR_BYTES * CLIENTS_MOST));
  #started = 0;

  /** Starts those that are missing; connections are open when it returns. */
  start(many) {
    Atomics.store(this.#cells, DONE, this.#started);
    const text = `SELECT * FROM ${rowsTable()} LIMIT 10`;
    for (; this.#started < many; this.#started++) {
      const data = { cells: this.#cells, numbers: this.#numbers, errors: this.#errors, index: this.#started, text };
      startPartner(new URL("./worker.mjs", import.meta.url), data);
    }
    this.#wait(many);
  }

  /** Until so many have done what they were to do. */
  #wait(many) {
    for (let done; (done = Atomics.load(this.#cells, DONE)) < many; ) {
      if (Atomics.wait(this.#cells, DONE, done, ANSWER_MS) === "timed-out") {
        throw new Error(`${many - done} of ${many} workers do not answer`);
      }
    }
    const said = Buffer.from(this.#errors.slice()).toString().split("\0").find(Boolean);
    this.#errors.fill(0);
    if (said) throw new Error(said);
  }

  /** What the first so many have added up. */
  go(many, iterations, queries) {
    this.#numbers[COUNT] = iterations;
    Atomics.store(this.#cells, QUERIES, queries);
    Atomics.store(this.#cells, DONE, 0);
    for (let index = 0; index < many; index++) {
      Atomics.add(this.#cells, CELLS + index, 1);
      Atomics.notify(this.#cells, CELLS + index);
    }
    this.#wait(many);
    return this.#numbers.subarray(SUMS, SUMS + many).reduce((sum, one) => sum + one, 0);
  }
}

const workers = new Workers();

/** An operation is a query of ten rows by each of so many connections, and the control the same without. */
async function gather(many) {
  await own();
  workers.start(many);
  return {
    control: (iterations) => workers.go(many, iterations, 0),
    test: (iterations) => workers.go(many, iterations, 1),
  };
}

const clients = [1, 2, 4, 8, 16].map((many) =>
  frame(`concurrent.${many}`, () => gather(many), { work: `sql.concurrent.${many}`, threads: many + 1 }),
);

export const style = { times, inTurn, connecting, clients };
