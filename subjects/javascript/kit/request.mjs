// Request lines, read and taken apart.

import { readSync } from "node:fs";
import { Refused, badArgument } from "./answer.mjs";

const LINE_MOST = 4096;
const LF = 10;

/** Reads whole lines from standard input, blocking: between requests nothing else is to happen in this thread. */
export class Lines {
  #buffered = Buffer.alloc(0);

  /** The next line without its end, undefined at the end of input, where half a line is none. Throws Refused for one that cannot be read. */
  next() {
    let end;
    while ((end = this.#buffered.indexOf(LF)) < 0) {
      const more = read();
      if (more.length === 0) return undefined;
      // Of a line that is too long only so much is kept as shows it.
      const kept = this.#buffered.length > LINE_MOST ? this.#buffered.subarray(0, LINE_MOST + 1) : this.#buffered;
      this.#buffered = Buffer.concat([kept, more]);
    }
    const line = this.#buffered.subarray(0, end);
    this.#buffered = this.#buffered.subarray(end + 1);
    if (line.length > LINE_MOST) throw badArgument(`the request is longer than ${LINE_MOST} bytes`);
    try {
      return new TextDecoder("utf-8", { fatal: true, ignoreBOM: true }).decode(line);
    } catch {
      throw badArgument("the request is not UTF-8");
    }
  }
}

function read() {
  const chunk = Buffer.alloc(8192);
  for (;;) {
    try {
      return chunk.subarray(0, readSync(0, chunk));
    } catch (error) {
      if (error.code === "EOF") return chunk.subarray(0, 0);
      if (error.code !== "EAGAIN" && error.code !== "EINTR") throw error;
      Atomics.wait(new Int32Array(new SharedArrayBuffer(4)), 0, 0, 1); // a pipe that does not block is asked again in a ms
    }
  }
}

export class Request {
  words = [];
  #fields = new Map();

  constructor(line) {
    for (const word of line.split(" ")) this.#add(word);
    if (this.words.length === 0) throw new Refused("unknown-request", "the line begins with a field; it must begin with a verb");
  }

  #add(word) {
    const equals = word.indexOf("=");
    if (word === "") throw badArgument("words are separated by single spaces");
    if (equals >= 0) {
      const key = word.slice(0, equals);
      if (this.#fields.has(key)) throw badArgument(`${key} is given twice`);
      this.#fields.set(key, word.slice(equals + 1));
    } else if (this.#fields.size > 0) {
      throw badArgument(`'${word}' stands after a key=value field: positional words come first`);
    } else {
      this.words.push(word);
    }
  }

  /** The words after the verb, which must be so many. */
  expect(words, usage) {
    if (this.words.length !== words + 1) throw badArgument(`write: ${usage}`);
    return this.words.slice(1);
  }

  has(key) {
    return this.#fields.has(key);
  }

  number(key, least, most) {
    if (!this.#fields.has(key)) throw badArgument(`${key}= is missing`);
    return number(key, this.#fields.get(key), least, most);
  }
}

/** Decimal digits only, and no more than a double holds exactly. */
export function number(what, text, least, most) {
  const value = /^[0-9]{1,20}$/.test(text) ? Number(text) : NaN;
  if (!(value >= least && value <= most)) {
    throw badArgument(`${what} must be a decimal integer from ${least} to ${most}, not '${text}'`);
  }
  return value;
}
