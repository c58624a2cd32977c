/**
 * Which tasks are held out. The split is a function of the canonical task id alone, so a task is on the same side in
 * every run, on every machine, wherever it comes from.
 */
import { createHash } from "node:crypto";

export type Split = "train" | "evaluate";

/** Share of all tasks that training never draws: leaves over 512 of the countdown tasks with three numbers. */
const evaluateShare = 1 / 5;

/** The first four bytes of the id's SHA-256 as a big-endian fraction of 2³²: below 1/5, the task is held out. */
export function splitOf(id: string): Split {
  const fraction = createHash("sha256").update(id, "utf8").digest().readUInt32BE(0) / 2 ** 32;
  return fraction < evaluateShare ? "evaluate" : "train";
}
