/** Asks the thread of experiments one question. */
import { Worker } from "node:worker_threads";
import { threadFile } from "../../lib/threadFile.ts";
import type { Experiment, Experimenter, Outcomes } from "./experiment.ts";

export const inThread: Experimenter = <Kind extends Experiment["kind"]>(
  asked: Extract<Experiment, { readonly kind: Kind }>,
): Promise<Outcomes[Kind]> => {
  const worker = new Worker(threadFile("experimentThread.mjs", "The thread that compares runs"), {
    workerData: asked,
    name: "gradus-experiment",
  });
  return new Promise<Outcomes[Kind]>((resolve, reject) => {
    worker.once("message", resolve);
    worker.once("error", reject);
    worker.once("exit", () => reject(new Error("the thread that compares runs ended without an answer")));
  }).finally(() => worker.terminate());
};
