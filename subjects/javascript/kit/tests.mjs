// What a subject lists.

import { encode } from "./answer.mjs";

/** For a series to throw: the system refused what the turn asked for. */
export class Exhausted extends Error {}

/**
 * A test with what `list` says of it besides: `arg` (the argument's unit), `switches`, `threads`, `work`, `most`, `absent`.
 * @param {string} name
 * @param {(argument: number) => any} prepare
 */
function test(kind, name, prepare, said = {}) {
  return { kind, name, prepare, ...said };
}

/** A cost per operation. */
export const frame = (name, prepare, said) => test("frame", name, prepare, said);

/** A distribution: the object has `operate()`, which gives start and end by now(). */
export const latency = (name, prepare, said) => test("latency", name, prepare, said);

/** Clock readings of a loop: the object has `turn(index)`, which throws Exhausted where storage is refused. */
export const series = (name, prepare, said) => test("series", name, prepare, said);

export function listed(test) {
  const keys = ["arg", "switches", "threads", "work", "most", "absent"];
  const given = keys.filter((key) => test[key] !== undefined);
  return `test name=${test.name} kind=${test.kind}` + given.map((key) => ` ${key}=${encode(String(test[key]))}`).join("");
}

/** Calls a method that a prepared object need not have. */
export async function call(prepared, method) {
  return prepared?.[method] ? await prepared[method]() : undefined;
}
