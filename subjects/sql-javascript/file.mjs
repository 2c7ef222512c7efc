// SQLite by drivers whose calls return when they are done: how a file is opened, and how a driver is asked for rows as arrays, is all that differs.

import { added, expect } from "./told.mjs";

export { style } from "./waiting.mjs";
export { sqlite as words } from "./words.mjs";

export class Connection {
  /** `prepared(database, text)` gives a statement whose rows are arrays, if it has any. */
  constructor(database, prepared) {
    this.database = database;
    this.prepared = prepared;
  }

  execute(text, rows) {
    if (rows === 0) this.database.exec(text);
    else expect(this.database.prepare(text).run().changes, rows);
  }

  query(text, rows) {
    return added(this.prepared(this.database, text).all(), rows);
  }

  prepare(text) {
    return new Statement(this.prepared(this.database, text));
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
