// A driver whose calls give promises. Connections that are used at once share the event loop of the one thread, as Node's users have it.

import { frame } from "./kit/kit.mjs";
import { own } from "./database.mjs";
import { connect } from "./driver.mjs";
import { nothing, rowsTable } from "./told.mjs";

const ROWS = 10;

const times = async (iterations, once) => {
  let sum = 0;
  for (let i = 0; i < iterations; i++) sum += await once();
  return sum;
};

/** A server has confirmed its settings. */
export function settle() {}

/** An operation of several steps; it gives `done`. */
const inTurn = (steps, done) => async () => {
  for (const step of steps) await step();
  return done;
};

const connecting = async (connect) => {
  const connection = await connect();
  try {
    return await connection.query("SELECT 1", 1);
  } finally {
    await connection.close();
  }
};

/** Several connections; an operation is a query of ten rows by each of them, and the control the same without. */
class Clients {
  #connections = [];
  #text = `SELECT * FROM ${rowsTable()} LIMIT ${ROWS}`;

  static async gather(many) {
    await own();
    const clients = new Clients();
    try {
      while (clients.#connections.length < many) await clients.#open();
    } catch (error) {
      await clients.close();
      throw error;
    }
    return clients;
  }

  /** Some drivers connect when they are first asked. */
  async #open() {
    const connection = await connect();
    this.#connections.push(connection);
    await connection.query(this.#text, ROWS);
  }

  async #each(does) {
    const sums = await Promise.all(this.#connections.map(does));
    return sums.reduce((sum, one) => sum + one, 0);
  }

  control(iterations) {
    return this.#each(async () => nothing(iterations));
  }

  test(iterations) {
    return this.#each((connection) => times(iterations, () => connection.query(this.#text, ROWS)));
  }

  async close() {
    for (const connection of this.#connections) await connection.close();
  }
}

const clients = [1, 2, 4, 8, 16].map((many) =>
  frame(`concurrent.${many}`, () => Clients.gather(many), { work: `sql.concurrent.${many}` }),
);

export const style = { times, inTurn, connecting, clients };
