// The kit's own tests, by which the method is tried.

import { chain } from "./frames.mjs";
import { frame } from "./tests.mjs";
import { startPartner } from "./threads.mjs";

/** Control given to a worker and back: the simplest operation that blocks. */
class Handoff {
  static #MAIN = 0;
  static #ENDED = 2;
  #turn = new Int32Array(new SharedArrayBuffer(8)); // whose turn it is, and how often it was given back
  #worker = startPartner(new URL("./handoff.mjs", import.meta.url), { turn: this.#turn });

  #exchange() {
    Atomics.store(this.#turn, 0, 1);
    Atomics.notify(this.#turn, 0);
    while (Atomics.load(this.#turn, 0) !== Handoff.#MAIN) Atomics.wait(this.#turn, 0, 1);
  }

  control(iterations) {
    Atomics.store(this.#turn, 1, 0);
    let sum = 0;
    for (let i = 0; i < iterations; i++) {
      this.#exchange();
      sum += Atomics.load(this.#turn, 1);
    }
    return sum;
  }

  test(iterations) {
    return this.control(iterations);
  }

  async close() {
    Atomics.store(this.#turn, 0, Handoff.#ENDED);
    Atomics.notify(this.#turn, 0);
    await this.#worker.terminate();
  }
}

export const OWN = [
  frame("self.same", () => ({ control: chain(20), test: chain(20) }), { work: "self.same" }),
  frame("self.dearer", () => ({ control: chain(20), test: chain(21) }), { work: "self.dearer" }),
  frame("self.handoff", () => new Handoff(), { threads: 2 }),
];
