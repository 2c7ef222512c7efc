// What the process has used so far. Read outside of timed regions.

import { openSync, readFileSync, readSync, readlinkSync } from "node:fs";

const MICROSECOND = 1000;

/** Reads resources on the measuring thread, which makes it. */
export class Meter {
  #ownSwitches;
  #schedstat;
  #text = Buffer.alloc(96);

  constructor(ownSwitches) {
    this.#ownSwitches = ownSwitches;
    try {
      this.#schedstat = openSync(`/proc/${readlinkSync("/proc/thread-self")}/schedstat`);
    } catch {
      this.#schedstat = undefined;
    }
  }

  get own() {
    return this.#ownSwitches !== undefined;
  }

  now() {
    const usage = process.resourceUsage();
    const own = this.#ownSwitches?.();
    return {
      voluntary: own ?? usage.voluntaryContextSwitches,
      involuntary: own === undefined ? usage.involuntaryContextSwitches : 0,
      minor: usage.minorPageFault,
      major: usage.majorPageFault,
      wait: this.#wait(),
    };
  }

  /** The second of three numbers: time on the processor, time ready but not running, slices; undefined where the system does not tell. */
  #wait() {
    if (this.#schedstat === undefined) return undefined;
    const got = readSync(this.#schedstat, this.#text, 0, this.#text.length, 0);
    const [onProcessor, wait] = this.#text.toString("latin1", 0, got).split(" ");
    return onProcessor === "0" ? undefined : BigInt(wait);
  }
}

export const waitBetween = (before, after) =>
  before.wait === undefined || after.wait === undefined ? "-" : after.wait - before.wait;

/** The peak is VmHWM: maxRSS would still hold the peak of the parent that this process was forked from. */
export function answerUsage(answer) {
  const usage = process.resourceUsage();
  const status = readFileSync("/proc/self/status", "latin1");
  const of = (key) => new RegExp(`^${key}:\\s*(\\d+)`, "m").exec(status)?.[1];
  const peak = Number(of("VmHWM") ?? usage.maxRSS) * 1024;
  answer.line(
    `usage user=${usage.userCPUTime * MICROSECOND} system=${usage.systemCPUTime * MICROSECOND} peak_rss=${peak} ` +
      `minor=${usage.minorPageFault} major=${usage.majorPageFault} voluntary=${usage.voluntaryContextSwitches} ` +
      `involuntary=${usage.involuntaryContextSwitches} threads=${of("Threads") ?? 0}`,
  );
}
