/**
 * Touches a file every few seconds from a thread of its own: a process that computes for minutes in one call still shows that it
 * lives. For those who cannot see the process, in another container or on another machine; here, its pid says more.
 */
import { closeSync, openSync } from "node:fs";
import { Worker } from "node:worker_threads";

const every = 5_000;

/** What the file is to both threads: who has closed it may have given its number to another. */
const [free, touching, closed] = [0, 1, 2];

/** The open file, not its name: a file that another has put in its place is not ours to touch. */
const program = `
const { workerData: { file, every, state } } = require("node:worker_threads");
const { futimesSync } = require("node:fs");
setInterval(() => {
  if (Atomics.compareExchange(state, 0, ${free}, ${touching}) !== ${free}) return;
  const now = new Date();
  try {
    futimesSync(file, now, now);
  } catch (error) {
    process.stderr.write("the lease cannot be touched: " + error.message + "\\n");
  } finally {
    Atomics.store(state, 0, ${free});
    Atomics.notify(state, 0);
  }
}, every);
`;

/** @returns ends it: the file is closed then, since Windows removes none that is open, nor its folder */
export function keepTouched(path: string): () => void {
  const file = openSync(path, "r+");
  const state = new Int32Array(new SharedArrayBuffer(4));
  const thread = new Worker(program, {
    eval: true,
    workerData: { file, every, state },
    // Of the main thread's options some are refused in a thread, and none is needed here.
    execArgv: [],
    env: {},
    resourceLimits: { maxOldGenerationSizeMb: 16, maxYoungGenerationSizeMb: 4 },
  });
  thread.unref();
  // Without it, an error of the thread would end the run.
  thread.on("error", (error) => process.stderr.write(`the lease is no longer renewed: ${error.message}\n`));
  return () => {
    const take = (): boolean => Atomics.compareExchange(state, 0, free, closed) !== touching;
    // Not for ever: a thread may have ended in the middle of a touch.
    for (let taken = take(); !taken; taken = take())
      if (Atomics.wait(state, 0, touching, every) === "timed-out") break;
    closeSync(file);
    void thread.terminate();
  };
}
