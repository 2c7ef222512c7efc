// SQLite by better-sqlite3, which holds a SQLite of its own.

import Database from "better-sqlite3";
import { added, expect, told } from "./told.mjs";

export { style } from "./waiting.mjs";

export const columns = "id INTEGER PRIMARY KEY AUTOINCREMENT, value INTEGER";
export const parameter = "?";
export const noResult = "PRAGMA query_only = OFF";

class Connection {
  database = new Database(told("FILE"), { timeout: 10_000 });

  execute(text, rows) {
    if (rows === 0) this.database.exec(text);
    else expect(this.database.prepare(text).run().changes, rows);
  }

  query(text, rows) {
    return added(this.database.prepare(text).raw().all(), rows);
  }

  prepare(text) {
    return new Statement(this.database.prepare(text));
  }

  close() {
    this.database.close();
  }
}

class Statement {
  #prepared;

  constructor(prepared) {
    this.#prepared = prepared.reader ? prepared.raw() : prepared;
  }

  execute(value, rows) {
    expect(this.#prepared.run(value).changes, rows);
  }

  query(value, rows) {
    return added(this.#prepared.all(value), rows);
  }

  /** It goes with its last user. */
  close() {}
}

export function connect() {
  return new Connection();
}

/**
 * The journal's mode belongs to the file. That each commit is written through is asked for, as this driver's SQLite does not do so if left alone: of the
 * connection that writes. Those that only read are spared the statement, which `connect` would count.
 */
export function settle({ database }) {
  database.pragma("synchronous = FULL");
  for (const [pragma, wanted] of [
    ["journal_mode = wal", "wal"],
    ["synchronous", 2],
  ]) {
    const found = database.pragma(pragma, { simple: true });
    if (found !== wanted) throw new Error(`PRAGMA ${pragma} gives ${found} in place of ${wanted}`);
  }
  lengthenLog(database);
}

/** As long as it becomes before it is written over: a commit that makes it longer uses twice as much of the processor. */
function lengthenLog(database) {
  database.exec("CREATE TABLE filler AS SELECT zeroblob(8388608) AS zeros");
  database.exec("DROP TABLE filler");
}
