// A driver whose calls return when they are done. Connections that are used at once then need a worker each.

import { frame, startPartner } from "./kit/kit.mjs";
import { own } from "./database.mjs";
import { rowsTable } from "./told.mjs";
import { CELLS, COUNT, DONE, ERROR_BYTES, QUERIES, QUIT, TURN } from "./cells.mjs";

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

/** Workers with a connection each; an operation is a query of ten rows by each of them, and the control the same without. */
class Clients {
  #many;
  #cells = new Int32Array(shared(4 * CELLS));
  #numbers;
  #errors;

  constructor(many) {
    this.#many = many;
    this.#numbers = new Float64Array(shared(8 * (1 + many)));
    this.#errors = new Uint8Array(shared(ERROR_BYTES * many));
  }

  static async gather(many) {
    await own();
    const clients = new Clients(many);
    const text = `SELECT * FROM ${rowsTable()} LIMIT 10`;
    for (let index = 0; index < many; index++) {
      const data = { cells: clients.#cells, numbers: clients.#numbers, errors: clients.#errors, index, text };
      startPartner(new URL("./worker.mjs", import.meta.url), data);
    }
    try {
      clients.#wait();
    } catch (error) {
      clients.#end();
      throw error;
    }
    return clients;
  }

  /** Until all workers have done what they were to do. */
  #wait() {
    for (let done; (done = Atomics.load(this.#cells, DONE)) < this.#many; ) {
      if (Atomics.wait(this.#cells, DONE, done, ANSWER_MS) === "timed-out") {
        throw new Error(`${this.#many - done} of ${this.#many} workers do not answer`);
      }
    }
    const said = Buffer.from(this.#errors.slice()).toString().split("\0").find(Boolean);
    if (said) throw new Error(said);
  }

  #begin(iterations, queries) {
    this.#numbers[COUNT] = iterations;
    Atomics.store(this.#cells, QUERIES, queries);
    Atomics.store(this.#cells, DONE, 0);
    Atomics.add(this.#cells, TURN, 1);
    Atomics.notify(this.#cells, TURN);
  }

  #go(iterations, queries) {
    this.#begin(iterations, queries);
    this.#wait();
    return this.#numbers.subarray(COUNT + 1).reduce((sum, one) => sum + one, 0);
  }

  control(iterations) {
    return this.#go(iterations, 0);
  }

  test(iterations) {
    return this.#go(iterations, 1);
  }

  /** Each worker closes its connection and ends. */
  close() {
    this.#end();
    this.#wait();
  }

  #end() {
    Atomics.store(this.#cells, QUIT, 1);
    this.#begin(0, 0);
  }
}

const clients = [1, 2, 4, 8, 16].map((many) =>
  frame(`concurrent.${many}`, () => Clients.gather(many), { work: `sql.concurrent.${many}`, threads: many + 1 }),
);

export const style = { times, inTurn, connecting, clients };
