// Requests that give a sequence of times: readings of a clock, its gaps, latencies, series.

import { encode } from "./answer.mjs";
import { clockNamed, now } from "./clocks.mjs";
import { reportOthers } from "./frames.mjs";
import { number } from "./request.mjs";
import { waitBetween } from "./resources.mjs";
import { Exhausted, call } from "./tests.mjs";
import * as threads from "./threads.mjs";

const READINGS_MOST = 1_000_000;
const GAPS_MOST = 200_000;
const READINGS_A_LOOK = 1024;

export function clock(request, answer) {
  const [name, count] = request.expect(2, "clock NAME COUNT");
  const read = clockNamed(name);
  const readings = new BigInt64Array(number("COUNT", count, 1, READINGS_MOST)).fill(-1n);
  threads.forgetReports();
  threads.reportMain();
  for (let i = 0; i < readings.length; i++) readings[i] = read();
  threads.reportMain();
  answer.readings(readings);
  threads.answerReports(answer);
}

export function gaps(request, meter, answer) {
  const [name] = request.expect(1, "gaps NAME time=NS over=D");
  const read = clockNamed(name);
  const time = request.number("time", 1_000_000, 60_000_000_000);
  const over = request.number("over", 0, 2 ** 63 - 1);
  threads.forgetReports();
  threads.reportMain();
  const before = meter.now();
  const seen = watch(read, BigInt(time), BigInt(over));
  const after = meter.now();
  threads.reportMain();
  for (let i = 0; i < Math.min(seen.gaps, GAPS_MOST); i++) answer.line(`gap ${seen.starts[i]} ${seen.durations[i]}`);
  const { readings, elapsed, gaps, lost } = seen;
  answer.line(`loop readings=${readings} elapsed=${elapsed} wait=${waitBetween(before, after)} gaps=${gaps} lost=${lost}`);
  threads.answerReports(answer);
}

/** The gaps of a loop. The last readings follow the look that found the time over. */
function watch(read, time, over) {
  const starts = new BigInt64Array(GAPS_MOST).fill(-1n);
  const durations = new BigInt64Array(GAPS_MOST).fill(-1n);
  let readings = 1;
  let gaps = 0;
  let lost = 0n;
  const first = read();
  let last = first;
  const end = now() + time;
  for (let timeOver = false; !timeOver; readings += READINGS_A_LOOK) {
    timeOver = now() >= end;
    for (let i = 0; i < READINGS_A_LOOK; i++) {
      const reading = read();
      const gap = reading - last;
      if (gap > over) {
        if (gaps < GAPS_MOST) {
          starts[gaps] = last - first;
          durations[gaps] = gap;
        }
        gaps++;
        lost += gap;
      }
      last = reading;
    }
  }
  return { starts, durations, readings, elapsed: last > first ? last - first : 0n, gaps, lost };
}

/** A timer of Node ends late, so the last of the waiting is spent looking at the clock. */
function waitUntil(moment) {
  const spin = 1_000_000n;
  const left = moment - now();
  if (left > spin) Atomics.wait(new Int32Array(new SharedArrayBuffer(4)), 0, 0, Number(left - spin) / 1e6);
  while (now() < moment);
}

export async function latency(test, argument, request, answer) {
  request.expect(1, "latency NAME count=C interval=T [arg=A]");
  const count = request.number("count", 1, READINGS_MOST);
  const interval = BigInt(request.number("interval", 0, 1_000_000_000_000));
  const samples = new BigInt64Array(3 * count).fill(-1n);
  threads.forgetReports();
  threads.startReporting();
  let prepared;
  try {
    prepared = await test.prepare(argument);
    await prepared.operate();
    await reportOthers(prepared);
    threads.stopReporting();
    const first = now();
    for (let i = 0; i < count; i++) {
      const intended = interval > 0n ? first + BigInt(i) * interval : now();
      if (interval > 0n) waitUntil(intended);
      const [actual, end] = await prepared.operate();
      samples.set([intended, actual, end], 3 * i);
    }
    threads.startReporting();
    await prepared.operate();
    await reportOthers(prepared);
  } finally {
    threads.stopReporting();
    await call(prepared, "close");
  }
  for (let i = 0; i < samples.length; i += 3) answer.line(`sample ${samples.subarray(i, i + 3).join(" ")}`);
  threads.answerReports(answer);
}

export async function series(test, argument, request, answer) {
  request.expect(1, "series NAME count=C [arg=A]");
  const readings = new BigInt64Array(request.number("count", 1, READINGS_MOST) + 1).fill(-1n);
  threads.forgetReports();
  threads.reportMain();
  let prepared;
  let completed = 0;
  let end = "count";
  try {
    prepared = await test.prepare(argument);
    readings[0] = now();
    while (completed + 1 < readings.length) {
      const turn = prepared.turn(completed + 1);
      if (turn instanceof Promise) await turn;
      readings[++completed] = now();
    }
  } catch (error) {
    // A RangeError is what V8 throws where it has no room for an array.
    if (!(error instanceof Exhausted || error instanceof RangeError)) throw error;
    end = `exhausted text=${encode(error.message)}`;
  } finally {
    await call(prepared, "close");
    prepared = undefined;
  }
  threads.reportMain();
  answer.readings(readings.subarray(0, completed + 1));
  answer.line(`outcome completed=${completed} end=${end}`);
  threads.answerReports(answer);
}

