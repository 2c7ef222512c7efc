// PostgreSQL by Postgres.js: statements as text by the simple protocol, prepared ones by the extended one, numbers as text.

import postgres from "postgres";
import { added, expect, server } from "./told.mjs";

export { settle, style } from "./promises.mjs";
export { postgresql as words } from "./words.mjs";

/** A pool of one connection, which opens when it is first asked. */
class Connection {
  constructor(sql) {
    this.sql = sql;
  }

  async execute(text, rows) {
    const { count } = await this.sql.unsafe(text);
    if (rows !== 0) expect(count, rows);
  }

  async query(text, rows) {
    return added(await this.sql.unsafe(text).values(), rows);
  }

  /** The driver has it prepared when it is first used. */
  prepare(text) {
    return new Statement(this.sql, text);
  }

  close() {
    return this.sql.end();
  }
}

class Statement {
  #sql;
  #text;

  constructor(sql, text) {
    this.#sql = sql;
    this.#text = text;
  }

  #ask(value) {
    return this.#sql.unsafe(this.#text, [value], { prepare: true });
  }

  async execute(value, rows) {
    const { count } = await this.#ask(value);
    expect(count, rows);
  }

  async query(value, rows) {
    return added(await this.#ask(value).values(), rows);
  }

  /** The driver keeps it under its text for as long as the connection is open. */
  close() {}
}

/**
 * Left alone, each connection asks for all types of arrays, closes after half an hour to an hour, and what the server notices is written to standard
 * output, where the answers to the laboratory are.
 */
export function connect() {
  const sql = postgres({ ...server(), max: 1, ssl: false, fetch_types: false, max_lifetime: null, onnotice() {} });
  return new Connection(sql);
}
