// Answers: put together in memory, and written at once when they are whole.

import { writeSync } from "node:fs";

// A line stays below 65536 bytes: a reading or difference takes 21 at most.
const READINGS_A_LINE = 3000;

/** A request that is not served: a code of the protocol and why. */
export class Refused extends Error {
  constructor(code, text) {
    super(text);
    this.code = code;
  }
}

export const badArgument = (text) => new Refused("bad-argument", text);

/** A field's value, with %XX where the protocol wants it. */
export function encode(value) {
  return value.replace(/[\x00-\x20%=\x7f]/g, (c) => "%" + c.charCodeAt(0).toString(16).toUpperCase().padStart(2, "0"));
}

export class Answer {
  #lines = [];

  line(text) {
    this.#lines.push(`@@ ${text}\n`);
  }

  /** Of a BigInt64Array. */
  readings(readings) {
    for (let begin = 0; begin < readings.length; begin += READINGS_A_LINE) {
      const part = readings.subarray(begin, begin + READINGS_A_LINE);
      const words = Array.from(part, (reading, i) => (i === 0 ? reading : reading - part[i - 1]));
      this.line(`readings ${words.join(" ")}`);
    }
  }

  close() {
    write(this.#lines.join("") + "@@ ok\n");
  }
}

export function refuse(error) {
  const [code, text] = error instanceof Refused ? [error.code, error.message] : ["failed", `${error?.name}: ${error?.message}`];
  write(`@@ error ${code} ${text.replace(/\p{Cc}/gu, " ").slice(0, 1000)}\n`);
}

/** Whole, whatever kind of file standard output is: a pipe may take a part, or none for now. */
function write(text) {
  let left = Buffer.from(text);
  while (left.length > 0) {
    try {
      left = left.subarray(writeSync(1, left));
    } catch (error) {
      if (error.code !== "EAGAIN") process.exit(1);
    }
  }
}
