// Speaks the subject protocol (docs/reference/subject-protocol.md) for any program in Node that is measured.
//
// A program lists its tests and serves the laboratory's requests until it has had enough:
//
//     await serve("JavaScript", [
//       frame("lock.free", () => new Lock()),
//     ]);
//
// What is prepared is an object with `control(iterations)` and `test(iterations)`, which give checksums (integers, or bigints modulo 2^64). It is
// made with the argument (0 if the test takes none) before the warm-up. Of its methods `reset` is called, untimed, after each slice, `reports`
// before and after what is timed, `close` at the end; those that it lacks are left out. All of them may give promises, which are waited for.
// An exception that leaves a frame is the failure of its test. Workers are started by startPartner; they import this module, call
// enterPartner() first, and takesPart(role) once an operation.

export { Exhausted, frame, latency, series } from "./tests.mjs";
export { now } from "./clocks.mjs";
export { enterPartner, pinProcess, startPartner, takesPart } from "./threads.mjs";
export { serve } from "./serve.mjs";
