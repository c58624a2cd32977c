/** A thread that is asked one question. */
import { Worker } from "node:worker_threads";
import { threadFile } from "../threadFile.ts";

interface Asked {
  /** Of its bundle. */
  readonly file: string;
  /** Of the thread, as a debugger lists it. */
  readonly name: string;
  /** "explains rollouts": the thread that … */
  readonly does: string;
  readonly question: unknown;
}

/** The first message of the thread, which then ends. @throws what the thread throws, or that it ended before it answered */
export function oneAnswer<Answer>({ file, name, does, question }: Asked): Promise<Answer> {
  const worker = new Worker(threadFile(file, `The thread that ${does}`), { workerData: question, name });
  return new Promise<Answer>((resolve, reject) => {
    worker.once("message", resolve);
    worker.once("error", reject);
    worker.once("exit", () => reject(new Error(`the thread that ${does} ended without an answer`)));
  }).finally(() => worker.terminate());
}
