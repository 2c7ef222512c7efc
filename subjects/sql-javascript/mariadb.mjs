// MariaDB by its own connector for Node: statements as text, prepared ones by the binary protocol.

import { createConnection } from "mariadb";
import { added, expect, server } from "./told.mjs";

export { settle, style } from "./promises.mjs";
export { mariadb as words } from "./words.mjs";

class Connection {
  constructor(client) {
    this.client = client;
  }

  async execute(text, rows) {
    const { affectedRows } = await this.client.query(text);
    if (rows !== 0) expect(affectedRows, rows);
  }

  async query(text, rows) {
    return added(await this.client.query(text), rows);
  }

  async prepare(text) {
    return new Statement(await this.client.prepare(text));
  }

  close() {
    return this.client.end();
  }
}

class Statement {
  #prepared;

  constructor(prepared) {
    this.#prepared = prepared;
  }

  async execute(value, rows) {
    const { affectedRows } = await this.#prepared.execute([value]);
    expect(affectedRows, rows);
  }

  async query(value, rows) {
    return added(await this.#prepared.execute([value]), rows);
  }

  close() {
    return this.#prepared.close();
  }
}

export async function connect() {
  return new Connection(await createConnection({ ...server(), ssl: false, rowsAsArray: true }));
}
