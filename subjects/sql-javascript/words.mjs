// The few words of SQL in which databases differ: the columns of `CREATE TABLE`, of which the key counts by itself; the first parameter of a prepared
// statement; how such a one asks for so many rows, since newer libraries of SQLite prepare one anew whenever the parameter of its LIMIT is bound; and the
// cheapest statement that has no result.

export const sqlite = {
  columns: "id INTEGER PRIMARY KEY AUTOINCREMENT, value INTEGER",
  parameter: "?",
  first: "WHERE id <=",
  noResult: "PRAGMA query_only = OFF",
};

export const postgresql = {
  columns: "id SERIAL PRIMARY KEY, value INTEGER",
  parameter: "$1",
  first: "LIMIT",
  noResult: "SET statement_timeout TO 0",
};

export const mariadb = {
  columns: "id INTEGER PRIMARY KEY AUTO_INCREMENT, value INTEGER",
  parameter: "?",
  first: "LIMIT",
  noResult: "DO 1",
};
