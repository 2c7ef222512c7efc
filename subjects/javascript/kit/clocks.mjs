// The clocks of Node. The first is the one that slices are timed with.

import { Refused } from "./answer.mjs";

/** The subject's clock, ns. */
export const now = process.hrtime.bigint;

const MILLISECOND = 1_000_000;

export const OWN_CLOCK = "process.hrtime";

export const CLOCKS = new Map([
  [OWN_CLOCK, now],
  ["performance.now", () => BigInt(Math.round(performance.now() * MILLISECOND))],
  ["Date.now", () => BigInt(Date.now() * MILLISECOND)],
]);

export function clockNamed(name) {
  const read = CLOCKS.get(name);
  if (!read) throw new Refused("unknown-clock", `${name}; \`list\` names the clocks`);
  return read;
}
