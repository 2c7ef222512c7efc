// Statements that write. What was written is counted after each slice, untimed.

import { frame } from "./kit/kit.mjs";
import { own } from "./database.mjs";
import { style, words } from "./driver.mjs";
import { nothing, writtenTable } from "./told.mjs";

const TOGETHER = 10; // inserts that are one operation of the transactions' tests

/** A table of its own, and what it must hold. */
class Writing {
  control = nothing;
  #on;
  #table = writtenTable();
  #once;
  #rowsEach;
  #rows = 0;

  /** `statements` gives the steps of an operation; `done` is what its checksum counts, and `rows` what the table gains. */
  static async prepare({ statements, done, rows }) {
    const writing = new Writing();
    const on = (writing.#on = await own());
    const table = writing.#table;
    const create = `CREATE TABLE ${table} (${words.columns})`;
    await on.execute(`DROP TABLE IF EXISTS ${table}`, 0);
    await on.execute(create, 0);
    const prepared = await on.prepare(`INSERT INTO ${table} (value) VALUES (${words.parameter})`);
    const insert = `INSERT INTO ${table} (value) VALUES (1)`;
    writing.prepared = prepared;
    writing.#once = style.inTurn(statements({ on, table, create, prepared, insert: () => on.execute(insert, 1) }), done);
    writing.#rowsEach = rows;
    return writing;
  }

  test(iterations) {
    this.#rows += iterations * this.#rowsEach;
    return style.times(iterations, this.#once);
  }

  /** Each row holds a 1, so count and sum are the rows that were written. */
  async reset() {
    const found = await this.#on.query(`SELECT count(*), coalesce(sum(value), 0) FROM ${this.#table}`, 1);
    if (found !== 2 * this.#rows) {
      throw new Error(`the table's rows and values add up to ${found}, and should to ${2 * this.#rows}`);
    }
  }

  async close() {
    await this.prepared.close();
    // Of a transaction that failed half-way; where there is none, some databases say so.
    await Promise.resolve()
      .then(() => this.#on.execute("ROLLBACK", 0))
      .catch(() => {});
    await this.#on.execute(`DROP TABLE IF EXISTS ${this.#table}`, 0);
  }
}

const writes = (name, work, how) => frame(name, () => Writing.prepare(how), { work });
const ten = (step) => new Array(TOGETHER).fill(step);

export const writing = [
  writes("insert", "sql.insert", { statements: ({ insert }) => [insert], done: 1, rows: 1 }),
  writes("insert.prepared", "sql.insert", { statements: ({ prepared }) => [() => prepared.execute(1, 1)], done: 1, rows: 1 }),
  writes("transaction.one", "sql.transaction", {
    statements: ({ on, insert }) => [() => on.execute("BEGIN", 0), ...ten(insert), () => on.execute("COMMIT", 0)],
    done: TOGETHER,
    rows: TOGETHER,
  }),
  writes("transaction.each", "sql.transaction", { statements: ({ insert }) => ten(insert), done: TOGETHER, rows: TOGETHER }),
  writes("drop_create", "sql.drop_create", {
    statements: ({ on, table, create }) => [() => on.execute(`DROP TABLE ${table}`, 0), () => on.execute(create, 0)],
    done: 1,
    rows: 0,
  }),
];
