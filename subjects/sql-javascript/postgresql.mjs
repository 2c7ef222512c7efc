// PostgreSQL by pg: statements as text by the simple protocol, prepared ones by the extended one, numbers as text.

import pg from "pg";
import { added, expect, server } from "./told.mjs";

export { settle, style } from "./promises.mjs";
export { postgresql as words } from "./words.mjs";

class Connection {
  #prepared = 0;

  constructor(client) {
    this.client = client;
  }

  async execute(text, rows) {
    const { rowCount } = await this.client.query(text);
    if (rows !== 0) expect(rowCount, rows);
  }

  async query(text, rows) {
    const result = await this.client.query({ text, rowMode: "array" });
    return added(result.rows, rows);
  }

  /** The server prepares it when it is first used. */
  prepare(text) {
    return new Statement(this.client, { name: `s${this.#prepared++}`, text, rowMode: "array" });
  }

  close() {
    return this.client.end();
  }
}

class Statement {
  #client;
  #prepared;
  #isKnown = false;

  constructor(client, prepared) {
    this.#client = client;
    this.#prepared = prepared;
  }

  async execute(value, rows) {
    const { rowCount } = await this.#client.query(this.#prepared, [value]);
    this.#isKnown = true;
    expect(rowCount, rows);
  }

  async query(value, rows) {
    const result = await this.#client.query(this.#prepared, [value]);
    this.#isKnown = true;
    return added(result.rows, rows);
  }

  /** The server keeps one that was used until it is told; the driver has no word for it. One that it does not give back ends with its connection. */
  async close() {
    if (this.#isKnown) await this.#client.query(`DEALLOCATE ${this.#prepared.name}`).catch(() => {});
  }
}

export async function connect() {
  const client = new pg.Client({ ...server(), ssl: false });
  await client.connect();
  return new Connection(client);
}
