// MariaDB by mysql2: `query` sends text, `execute` prepares what it is given once and sends it by the binary protocol.

import { createConnection } from "mysql2/promise";
import { added, expect, server } from "./told.mjs";

export { settle, style } from "./promises.mjs";
export { mariadb as words } from "./words.mjs";

class Connection {
  constructor(client) {
    this.client = client;
  }

  async execute(text, rows) {
    const [{ affectedRows }] = await this.client.query(text);
    if (rows !== 0) expect(affectedRows, rows);
  }

  async query(text, rows) {
    const [found] = await this.client.query(text);
    return added(found, rows);
  }

  /** The server prepares it when it is first used. */
  prepare(text) {
    return new Statement(this.client, text);
  }

  close() {
    return this.client.end();
  }
}

class Statement {
  #client;
  #text;

  constructor(client, text) {
    this.#client = client;
    this.#text = text;
  }

  async execute(value, rows) {
    const [{ affectedRows }] = await this.#client.execute(this.#text, [value]);
    expect(affectedRows, rows);
  }

  async query(value, rows) {
    const [found] = await this.#client.execute(this.#text, [value]);
    return added(found, rows);
  }

  close() {
    this.#client.unprepare(this.#text);
  }
}

/** Without `trace: false` each call would note where it comes from, for the stack of an error that it may have. */
export async function connect() {
  return new Connection(await createConnection({ ...server(), rowsAsArray: true, trace: false }));
}
