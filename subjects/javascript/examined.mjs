// One test of each kind that the kit serves: what JavaScript's own means to synchronize and to take storage cost in Node.

import { frame, latency, now, serve, series, startPartner } from "./kit/kit.mjs";

/** A lock that nobody else wants: JavaScript has none of its own, so it is a word that is exchanged atomically. */
class Lock {
  #word = new Int32Array(new SharedArrayBuffer(4));

  control(iterations) {
    let sum = 0;
    for (let i = 0; i < iterations; i++) sum += i;
    return sum;
  }

  test(iterations) {
    let sum = 0;
    for (let i = 0; i < iterations; i++) {
      while (Atomics.compareExchange(this.#word, 0, 0, 1) !== 0) Atomics.wait(this.#word, 0, 1);
      sum += i;
      Atomics.store(this.#word, 0, 0);
    }
    return sum;
  }
}

/** From before a worker is started to its first statement. */
class Start {
  async operate() {
    const began = new BigInt64Array(new SharedArrayBuffer(8));
    const ended = new Int32Array(new SharedArrayBuffer(4));
    const start = now();
    startPartner(new URL("./start.mjs", import.meta.url), { began, ended });
    Atomics.wait(ended, 0, 0);
    return [start, began[0]];
  }
}

/** Storage that is taken and kept until the series ends. */
class Storage {
  #bytes;
  #kept = [];

  constructor(bytes) {
    this.#bytes = bytes;
  }

  turn(index) {
    this.#kept.push(new Uint8Array(this.#bytes).fill(index));
  }
}

await serve("JavaScript", [
  frame("lock.free", () => new Lock()),
  latency("thread.start", () => new Start(), { threads: 2 }),
  series("storage.kept", (bytes) => new Storage(bytes), { arg: "bytes" }),
]);
