// What the laboratory tells of the database, and what drivers share.

/** The value of an environment variable of the laboratory's. */
export function told(name) {
  const value = process.env[`ANTIPHON_SQL_${name}`];
  if (!value) {
    throw new Error(
      `ANTIPHON_SQL_${name} is not set: start the program by the laboratory, or name a database (docs/reference/subjects.md)`,
    );
  }
  return value;
}

/** Where the server is, and as whom one connects, by the names that all drivers have for it. */
export const server = () => ({
  host: told("HOST"),
  port: Number(told("PORT")),
  user: told("USER"),
  password: told("PASSWORD"),
  database: told("NAME"),
});

/** Of known values, never changed. */
export const rowsTable = () => `${told("TABLE")}_rows`;

/** For tests that write. */
export const writtenTable = () => `${told("TABLE")}_written`;

/** A statement that met other rows than it should is a failure, never a time. */
export function expect(found, wanted) {
  if (found !== wanted) throw new Error(`${found} rows in place of ${wanted}`);
}

/** Every column of every row, added up. Columns that hold 64 bits come as texts or BigInts. */
export function added(rows, wanted) {
  let sum = 0;
  for (const row of rows) for (const column of row) sum += Number(column);
  expect(rows.length, wanted);
  return sum;
}

/** The control: the loop without the statement. */
export function nothing(iterations) {
  let sum = 0;
  for (let i = 0; i < iterations; i++) sum += i;
  return sum;
}
