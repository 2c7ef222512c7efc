// The partner of self.handoff.

import { workerData } from "node:worker_threads";
import { enterPartner, takesPart } from "./threads.mjs";

enterPartner();
const { turn } = workerData;
for (;;) {
  Atomics.wait(turn, 0, 0);
  const whose = Atomics.load(turn, 0);
  if (whose === 2) break;
  if (whose !== 1) continue;
  takesPart("partner");
  Atomics.add(turn, 1, 1);
  // Unless it was ended meanwhile.
  Atomics.compareExchange(turn, 0, 1, 0);
  Atomics.notify(turn, 0);
}
