// Frames: batches of slices in the order control, test, test, control, and single slices.

import { badArgument } from "./answer.mjs";
import { now } from "./clocks.mjs";
import { waitBetween } from "./resources.mjs";
import { call } from "./tests.mjs";
import * as threads from "./threads.mjs";

export const MOST = Number.MAX_SAFE_INTEGER;
const BLOCKS_MOST = 100_000;
const ROLES = ["control", "test", "reference"];
const WITH_REFERENCE = ["reference", "control", "test", "test", "control", "reference"];
const WITHOUT_REFERENCE = ["control", "test", "test", "control"];

const MULTIPLIER = 6364136223846793005n;
const ADDEND = 1442695040888963407n;

/** So many steps of the dependent chain an iteration. Each call gives a function of its own: two of the same steps are copies. */
export const chain = (steps) => (iterations) => {
  let x = 1n;
  for (let i = 0; i < iterations; i++) {
    for (let step = 0; step < steps; step++) x = BigInt.asUintN(64, x * MULTIPLIER + ADDEND);
  }
  return x;
};

/** The operation of known cost that every subject has. */
const reference = chain(16);

const run = (prepared, role, iterations) => (role === "reference" ? reference(iterations) : prepared[role](iterations));

/** One slice. Between the two readings of the clock there is the frame and nothing else; only a promise is waited for. */
async function timed(meter, prepared, role, iterations) {
  const before = meter.now();
  const start = now();
  let checksum = run(prepared, role, iterations);
  if (checksum instanceof Promise) checksum = await checksum;
  const end = now();
  const after = meter.now();
  const processor = threads.processor();
  await call(prepared, "reset");
  return { role, iterations, start, end, before, after, processor, checksum };
}

async function untimed(prepared, role, iterations) {
  if (iterations === 0) return;
  await run(prepared, role, iterations);
  await call(prepared, "reset");
}

export async function reportOthers(prepared) {
  for (const report of (await call(prepared, "reports")) ?? []) threads.report(report);
}

function answerSlice(answer, block, slice) {
  const { role, iterations, start, end, before, after, processor, checksum } = slice;
  const counts = ["voluntary", "involuntary", "minor", "major"].map((key) => after[key] - before[key]);
  answer.line(
    `slice ${block} ${role} ${iterations} ${start} ${end - start} ${counts.join(" ")} ` +
      `${waitBetween(before, after)} ${processor} ${BigInt.asUintN(64, BigInt(checksum))}`,
  );
}

function iterationsOf(test, request, key, least) {
  const iterations = request.number(key, least, MOST);
  if (iterations > (test.most ?? MOST)) {
    throw badArgument(`${key}=${iterations}: ${test.name} keeps what it takes until the slice ends; at most ${test.most}`);
  }
  return iterations;
}

export async function batch(test, argument, request, meter, answer) {
  const iterations = iterationsOf(test, request, "iterations", 1);
  const blocks = request.number("blocks", 1, BLOCKS_MOST);
  const referenceIterations = request.number("reference", 0, MOST);
  const warmup = iterationsOf(test, request, "warmup", 0);
  const order = referenceIterations > 0 ? WITH_REFERENCE : WITHOUT_REFERENCE;
  const slices = new Array(blocks * order.length).fill(null);
  threads.forgetReports();
  threads.startReporting();
  let prepared;
  try {
    prepared = await test.prepare(argument);
    await untimed(prepared, "control", warmup);
    await untimed(prepared, "test", warmup);
    await reportOthers(prepared);
    threads.stopReporting();
    for (let i = 0; i < slices.length; i++) {
      const role = order[i % order.length];
      slices[i] = await timed(meter, prepared, role, role === "reference" ? referenceIterations : iterations);
    }
    threads.startReporting();
    await untimed(prepared, "test", 1);
    await reportOthers(prepared);
  } finally {
    threads.stopReporting();
    await call(prepared, "close");
  }
  slices.forEach((slice, i) => answerSlice(answer, Math.floor(i / order.length), slice));
  threads.answerReports(answer);
}

/** The test that stays prepared between requests for its slices. */
export class Kept {
  #key;
  #prepared;

  async finish() {
    const prepared = this.#prepared;
    this.#key = this.#prepared = undefined;
    await call(prepared, "close");
  }

  async slice(test, argument, request, meter, answer) {
    const [, role] = request.expect(2, "slice NAME ROLE iterations=N warmup=W [arg=A]");
    if (!ROLES.includes(role)) throw badArgument(`the role must be control, test or reference, not '${role}'`);
    const iterations = iterationsOf(test, request, "iterations", 1);
    const warmup = iterationsOf(test, request, "warmup", 0);
    const key = `${test.name} ${argument}`;
    if (this.#key !== key) {
      await this.finish();
      this.#prepared = await test.prepare(argument);
      this.#key = key;
    }
    try {
      await untimed(this.#prepared, role, warmup);
      answerSlice(answer, 0, await timed(meter, this.#prepared, role, iterations));
    } catch (error) {
      await this.finish();
      throw error;
    }
  }
}
