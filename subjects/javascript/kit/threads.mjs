// Where threads run, and what they say of it. Node can neither ask nor say where a thread runs: /proc tells, and taskset moves.

import { execFileSync } from "node:child_process";
import { readFileSync, readlinkSync } from "node:fs";
import { Worker, isMainThread, workerData } from "node:worker_threads";

const REPORTING = 0;
const WRITTEN = 1;
const REPORTS_BYTES = 1 << 20;

// Shared with workers: whether threads report now, how many bytes of reports there are, and those, a report a line.
const shared = isMainThread
  ? { state: new Int32Array(new SharedArrayBuffer(8)), text: new Uint8Array(new SharedArrayBuffer(REPORTS_BYTES)), partner: null }
  : workerData.kit;

function pin(thread, processor) {
  execFileSync("taskset", ["-cp", String(processor), String(thread)], { stdio: ["ignore", "ignore", "pipe"] });
}

/** Lets every thread that a process has now run on one processor alone; threads that they start later inherit it. */
export function pinProcess(process, processor) {
  execFileSync("taskset", ["-acp", String(processor), String(process)], { stdio: ["ignore", "ignore", "pipe"] });
}

/** Puts this thread and all others of the process where they belong; null: wherever the system puts them. */
export function place({ main, partner }) {
  shared.partner = partner;
  if (partner !== null) pinProcess(process.pid, partner);
  if (main !== null) pin(thisThread(), main);
}

const thisThread = () => readlinkSync("/proc/thread-self").split("/").at(-1);

/** A worker that runs a module; it starts where the placement wants it. What it gets as workerData is `data`, with the kit's own in `kit`. */
export function startPartner(module, data = {}) {
  const worker = new Worker(module, { workerData: { ...data, kit: shared } });
  worker.unref();
  return worker;
}

/** What a worker calls first. */
export function enterPartner() {
  if (shared.partner !== null) pin(thisThread(), shared.partner);
}

// Fields of /proc/thread-self/stat, counted from the one after the command's name.
const STAT = { processor: 36, priority: 37, policy: 38 };
const POLICIES = ["other", "fifo", "rr"];

export function ofThisThread(role) {
  const stat = readFileSync("/proc/thread-self/stat", "latin1");
  const fields = stat.slice(stat.lastIndexOf(")") + 2).split(" ");
  const allowed = /^Cpus_allowed_list:\s*(\S+)/m.exec(readFileSync("/proc/thread-self/status", "latin1"))?.[1] ?? "0";
  const policy = POLICIES[fields[STAT.policy]] ?? fields[STAT.policy];
  return `role=${role} policy=${policy} priority=${fields[STAT.priority]} processor=${fields[STAT.processor]} allowed=${allowed}`;
}

/** The processor that this thread is on. */
export function processor() {
  try {
    const stat = readFileSync("/proc/thread-self/stat", "latin1");
    return stat.slice(stat.lastIndexOf(")") + 2).split(" ")[STAT.processor];
  } catch {
    return "-";
  }
}

/** What each thread that a test starts calls, at each operation: it reports in untimed iterations. */
export function takesPart(role) {
  if (Atomics.load(shared.state, REPORTING)) report(ofThisThread(role));
}

/** Hands in a report: the text of a `@@ thread` line without `count`. */
export function report(text) {
  const bytes = Buffer.from(text + "\n");
  const at = Atomics.add(shared.state, WRITTEN, bytes.length);
  if (at + bytes.length <= REPORTS_BYTES) shared.text.set(bytes, at);
}

export function startReporting() {
  Atomics.store(shared.state, REPORTING, 1);
  reportMain();
}

export const stopReporting = () => Atomics.store(shared.state, REPORTING, 0);
export const reportMain = () => report(ofThisThread("main"));
export const forgetReports = () => Atomics.store(shared.state, WRITTEN, 0);

export function answerReports(answer) {
  const written = Math.min(Atomics.load(shared.state, WRITTEN), REPORTS_BYTES);
  const lines = Buffer.from(shared.text.slice(0, written)).toString().split("\n").slice(0, -1);
  const counts = new Map();
  for (const line of lines) counts.set(line, (counts.get(line) ?? 0) + 1);
  for (const [line, count] of counts) answer.line(`thread ${line} count=${count}`);
}
