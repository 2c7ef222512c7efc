// Connections and queries.

import { frame } from "./kit/kit.mjs";
import { own } from "./database.mjs";
import { connect, style, words } from "./driver.mjs";
import { nothing, rowsTable } from "./told.mjs";

/** A test whose operation gives a number. */
const test = (name, work, prepare) =>
  frame(
    name,
    async () => {
      const { once, close } = await prepare(await own());
      return { control: nothing, test: (iterations) => style.times(iterations, once), close };
    },
    { work },
  );

const query = (name, text, rows) =>
  test(name, `sql.${name}`, (on) => {
    const sent = text();
    return { once: () => on.query(sent, rows) };
  });

/** Prepared once, with its rows as the parameter. */
const prepared = (rows) =>
  test(`prepared.${rows}`, `sql.rows.${rows}`, async (on) => {
    const statement = await on.prepare(`SELECT * FROM ${rowsTable()} ${words.first} ${words.parameter}`);
    return { once: () => statement.query(rows, rows), close: () => statement.close() };
  });

export const reading = [
  test("connect", "sql.connect", () => ({ once: () => style.connecting(connect) })),
  test("do.1", "sql.do.1", (on) => ({ once: style.inTurn([() => on.execute(words.noResult, 0)], 1) })),
  query("select.1", () => "SELECT 1", 1),
  ...[1, 10, 50, 100, 200, 500, 1000].map((rows) =>
    query(`rows.${rows}`, () => `SELECT * FROM ${rowsTable()} LIMIT ${rows}`, rows),
  ),
  ...[1, 10, 100, 1000].map(prepared),
];
