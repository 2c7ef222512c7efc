// SQLite by Node itself, whose library locks a connection for every call: the driver has no word for `SQLITE_OPEN_NOMUTEX`.

import { DatabaseSync } from "node:sqlite";
import { Connection } from "./file.mjs";
import { told } from "./told.mjs";

export { settle, style, words } from "./file.mjs";

export const connect = () => new Connection(new DatabaseSync(told("FILE"), { timeout: 10_000 }), arrays);

function arrays(statement) {
  statement.setReturnArrays(true);
  return statement;
}
