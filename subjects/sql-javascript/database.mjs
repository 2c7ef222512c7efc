// The process's own connection and its tables.

import { connect, settle, words } from "./driver.mjs";
import { rowsTable } from "./told.mjs";

const ROWS_MOST = 1000;

let open;

/** Open from the first preparation on, so that SQLite's file never loses its last user, which would make it tidy up. */
export async function own() {
  if (!open) {
    const connection = await connect();
    await settle(connection);
    await fill(connection);
    open = connection;
  }
  return open;
}

/** The row with key k holds 7919 k mod 10007, in all languages. */
async function fill(connection) {
  const table = rowsTable();
  await connection.execute(`DROP TABLE IF EXISTS ${table}`, 0);
  await connection.execute(`CREATE TABLE ${table} (${words.columns})`, 0);
  await connection.execute("BEGIN", 0);
  for (let key = 1; key <= ROWS_MOST; key++) {
    await connection.execute(`INSERT INTO ${table} (id, value) VALUES (${key}, ${(7919 * key) % 10007})`, 1);
  }
  await connection.execute("COMMIT", 0);
}
