// The main program: one request, one answer, until the laboratory has had enough.

import { Answer, Refused, badArgument, encode, refuse } from "./answer.mjs";
import { CLOCKS, OWN_CLOCK } from "./clocks.mjs";
import * as frames from "./frames.mjs";
import { OWN } from "./own.mjs";
import { Lines, Request, number } from "./request.mjs";
import { Meter, answerUsage } from "./resources.mjs";
import * as sequences from "./sequences.mjs";
import { listed } from "./tests.mjs";
import { place } from "./threads.mjs";

/**
 * Answers requests from standard input until `quit` or its end, on the thread that measures, and ends the program. `ownSwitches()` counts the
 * context switches so far of all processes that take part; `onPlacement({ main, partner })` does what more a placement asks for.
 */
export async function serve(language, tests, { ownSwitches, onPlacement } = {}) {
  const server = new Server(language, [...OWN, ...tests], new Meter(ownSwitches), onPlacement);
  await server.run();
  process.exit(0);
}

class Server {
  #language;
  #tests;
  #meter;
  #onPlacement;
  #placed = false;
  #kept = new frames.Kept();

  constructor(language, tests, meter, onPlacement) {
    this.#language = language;
    this.#tests = new Map(tests.map((test) => [test.name, test]));
    this.#meter = meter;
    this.#onPlacement = onPlacement;
  }

  async run() {
    const lines = new Lines();
    for (;;) {
      try {
        const line = lines.next();
        if (line === undefined) break;
        const request = new Request(line);
        const answer = new Answer();
        await this.#serve(request, answer);
        answer.close();
        if (request.words[0] === "quit") return;
      } catch (error) {
        refuse(error); // whatever a test throws is its failure, and the next request is served
      }
    }
    await this.#kept.finish();
  }

  async #serve(request, answer) {
    switch (request.words[0]) {
      case "hello":
        return this.#hello(request, answer);
      case "list":
        return this.#list(request, answer);
      case "clock":
        return sequences.clock(request, answer);
      case "gaps":
        return sequences.gaps(request, this.#meter, answer);
      case "placement":
        return this.#place(request);
      case "batch":
        await this.#kept.finish();
        request.expect(1, "batch NAME iterations=N blocks=B reference=R warmup=W [arg=A]");
        return frames.batch(...this.#named(request, "frame"), request, this.#meter, answer);
      case "slice":
        return this.#kept.slice(...this.#named(request, "frame"), request, this.#meter, answer);
      case "latency":
        await this.#kept.finish();
        return sequences.latency(...this.#named(request, "latency"), request, answer);
      case "series":
        await this.#kept.finish();
        return sequences.series(...this.#named(request, "series"), request, answer);
      case "usage":
        request.expect(0, "usage");
        return answerUsage(answer);
      case "quit":
        request.expect(0, "quit");
        return this.#kept.finish();
      default:
        throw new Refused("unknown-request", request.words[0]);
    }
  }

  #hello(request, answer) {
    const [version] = request.expect(1, "hello VERSION");
    if (number("VERSION", version, 0, 2 ** 64) !== 1) throw new Refused("version", "speaks 1");
    const switches = this.#meter.own ? " switches=own" : "";
    answer.line(`hello protocol=1 language=${encode(this.#language)} kit=1.0 clock=${OWN_CLOCK}${switches}`);
  }

  #list(request, answer) {
    request.expect(0, "list");
    for (const name of CLOCKS.keys()) answer.line(`clock name=${name} unit=ns`);
    for (const test of this.#tests.values()) answer.line(listed(test));
  }

  async #place(request) {
    await this.#kept.finish();
    if (this.#placed) throw badArgument("placement was given before; it is given once, after hello");
    const placement = parsePlacement(request.words.slice(1));
    try {
      place(placement);
      await this.#onPlacement?.(placement);
    } catch (error) {
      throw new Refused("unsupported", `the system does not let threads run there: ${error.stderr ?? error.message}`);
    }
    this.#placed = true;
  }

  /** The test that the first positional word names, and its argument. */
  #named(request, kind) {
    const name = request.words[1] ?? "";
    const test = this.#tests.get(name);
    if (!test) throw new Refused("unknown-test", `${name}; \`list\` names the tests`);
    if (test.absent !== undefined) throw new Refused("unsupported", `${name}: ${test.absent}`);
    if (test.kind !== kind) throw badArgument(`${name} is a ${test.kind} test, not a ${kind} test`);
    if (test.arg === undefined && request.has("arg")) throw badArgument(`${name} takes no argument`);
    return [test, test.arg === undefined ? 0 : request.number("arg", 0, frames.MOST)];
  }
}

function parsePlacement([how, ...words]) {
  const processors = words.map((word) => number("a processor", word, 0, 2 ** 31));
  const [main, partner] = processors;
  if (how === "free" && processors.length === 0) return { main: null, partner: null };
  if (how === "same" && processors.length === 1) return { main, partner: main };
  if (how === "across" && processors.length === 2) {
    if (main === partner) throw badArgument("across wants two processors; `placement same` is for one");
    return { main, partner };
  }
  throw badArgument("write: placement same P, placement across P Q, or placement free");
}
