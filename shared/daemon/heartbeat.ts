/**
 * Touches a file every few seconds from a thread of its own: a process that computes for minutes in one call still shows that it
 * lives. For those who cannot see the process, in another container or on another machine; here, its pid says more.
 */
import { closeSync, openSync } from "node:fs";
import { Worker } from "node:worker_threads";

const every = 5_000;

/** The open file, not its name: a file that another has put in its place is not ours to touch. */
const program = `
const { workerData: { file, every } } = require("node:worker_threads");
const { futimesSync } = require("node:fs");
setInterval(() => {
  const now = new Date();
  try {
    futimesSync(file, now, now);
  } catch (error) {
    process.stderr.write("the lease cannot be touched: " + error.message + "\\n");
  }
}, every);
`;

/** @returns ends it */
export function keepTouched(path: string): () => void {
  const file = openSync(path, "r+");
  const thread = new Worker(program, {
    eval: true,
    workerData: { file, every },
    // Of the main thread's options some are refused in a thread, and none is needed here.
    execArgv: [],
    env: {},
    resourceLimits: { maxOldGenerationSizeMb: 16, maxYoungGenerationSizeMb: 4 },
  });
  thread.unref();
  // Without it, an error of the thread would end the run.
  thread.on("error", (error) => process.stderr.write(`the lease is no longer renewed: ${error.message}\n`));
  return () => {
    void thread.terminate().then(() => closeSync(file));
  };
}
