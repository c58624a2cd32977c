/** A thread that compares answers: what a model writes as LaTeX may take an engine forever. */
import { parentPort } from "node:worker_threads";
import type { FromThread } from "../threads/thread.ts";
import { sameAnswer } from "./equality.ts";
import type { Compared, Comparison } from "./mathsEngine.ts";

const post = (message: FromThread<Compared>): void => parentPort?.postMessage(message);

function compared({ gold, answer }: Comparison): Compared {
  try {
    return { kind: "same", same: sameAnswer(gold, answer) };
  } catch (error) {
    return { kind: "failed", message: error instanceof Error ? error.message : String(error) };
  }
}

parentPort?.on("message", (comparison: Comparison) =>
  post({ kind: "ran", result: compared(comparison), spent: false }),
);
// The engine is made before the first question, whose time it would be.
sameAnswer("x", "y");
post({ kind: "ready" });
