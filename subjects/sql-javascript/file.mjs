// SQLite by drivers whose calls return when they are done: how a file is opened, and how a driver is asked for rows as arrays, is all that differs.

import { added, expect } from "./told.mjs";

export { style } from "./waiting.mjs";
export { sqlite as words } from "./words.mjs";

export class Connection {
  /** `arrays(statement)` has a statement give its rows as arrays. */
  constructor(database, arrays) {
    this.database = database;
    this.arrays = arrays;
  }

  execute(text, rows) {
    if (rows === 0) this.database.exec(text);
    else expect(this.database.prepare(text).run().changes, rows);
  }

  query(text, rows) {
    return added(this.arrays(this.database.prepare(text)).all(), rows);
  }

  /** better-sqlite3 knows whether a statement has rows, and does not take that word of one without. */
  prepare(text) {
    const statement = this.database.prepare(text);
    return new Statement(statement.reader === false ? statement : this.arrays(statement));
  }

  close() {
    this.database.close();
  }
}

class Statement {
  #prepared;

  constructor(prepared) {
    this.#prepared = prepared;
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

/**
 * The journal's mode belongs to the file. That each commit is written through is asked for, as better-sqlite3's library does not do so if left alone: of
 * the connection that writes. Those that only read are spared the statement, which `connect` would count.
 */
export function settle({ database }) {
  database.exec("PRAGMA synchronous = FULL");
  for (const [pragma, wanted] of [
    ["journal_mode = wal", "wal"],
    ["synchronous", 2],
  ]) {
    const [found] = Object.values(database.prepare(`PRAGMA ${pragma}`).get());
    if (found !== wanted) throw new Error(`PRAGMA ${pragma} gives ${found} in place of ${wanted}`);
  }
  lengthenLog(database);
}

/** As long as it becomes before it is written over: a commit that makes it longer uses twice as much of the processor. */
function lengthenLog(database) {
  database.exec("CREATE TABLE filler AS SELECT zeroblob(8388608) AS zeros");
  database.exec("DROP TABLE filler");
}
