// The worker of thread.start.

const began = process.hrtime.bigint();

const { workerData } = await import("node:worker_threads");
const { enterPartner, takesPart } = await import("./kit/kit.mjs");

enterPartner();
takesPart("partner");
workerData.began[0] = began;
Atomics.store(workerData.ended, 0, 1);
Atomics.notify(workerData.ended, 0);
