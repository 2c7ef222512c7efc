// SQLite by better-sqlite3, which holds a SQLite of its own.

import Database from "better-sqlite3";
import { Connection } from "./file.mjs";
import { told } from "./told.mjs";

export { settle, style, words } from "./file.mjs";

export const connect = () => new Connection(new Database(told("FILE"), { timeout: 10_000 }), arrays);

const arrays = (statement) => statement.raw();
