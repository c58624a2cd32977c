/** One thread of the sandbox: it is ended and begun again where a program leaves it no other way. */
import { Worker } from "node:worker_threads";
import { threadFile } from "../threadFile.ts";
import { imageFrom, knownImage } from "./python/image.ts";
import { partsOf } from "./parts.ts";
import type { FromThread, ThreadData } from "./sandboxThread.ts";
import type { SandboxFailure, SandboxLanguage, SandboxProgram, SandboxResult } from "./sandbox.ts";

/** Seconds that a program may overstay before its thread is ended: the interpreter ends it itself where it can. */
const grace = 0.5;

const file = (): string =>
  process.env["GRADUS_SANDBOX_THREAD"] ?? threadFile("sandboxThread.mjs", "The thread that runs programs");

type Heard = (event: FromThread | { readonly kind: "ended"; readonly error?: NodeJS.ErrnoException }) => void;

/** A worker, and who hears of it now. */
class Thread {
  readonly worker: Worker;
  heard: Heard = () => undefined;
  constructor(data: ThreadData) {
    this.worker = new Worker(file(), {
      workerData: data,
      name: "gradus-sandbox",
      env: {},
      stdout: true,
      stderr: true,
      resourceLimits: { stackSizeMb: 32 },
    });
    this.worker.on("message", (message: FromThread) => this.heard(message));
    this.worker.on("error", (error) => this.heard({ kind: "ended", error }));
    this.worker.on("exit", () => this.heard({ kind: "ended" }));
  }

  /** Until it can run programs; what it made for others to start from. */
  ready(): Promise<Uint8Array | undefined> {
    return new Promise((resolve, reject) => {
      this.heard = (event) => {
        if (event.kind === "ended")
          reject(event.error ?? new Error("the sandbox's thread ended as it started"));
        if (event.kind !== "ready") return;
        this.worker.unref();
        resolve(event.image);
      };
    });
  }
}

/** A thread that is ready. @throws UserError where it is not built */
async function begun(language: SandboxLanguage): Promise<Thread> {
  const parts = await partsOf(language);
  if (parts.language === "javascript") return ready(new Thread(parts));
  const known = await knownImage(parts.parts.version);
  if (known !== undefined) return ready(new Thread({ ...parts, image: known }));
  const thread = new Thread(parts);
  await imageFrom(parts.parts.version, thread.ready());
  return thread;
}

async function ready(thread: Thread): Promise<Thread> {
  await thread.ready();
  return thread;
}

export class Lane {
  #thread: Promise<Thread> | undefined;
  constructor(private readonly language: SandboxLanguage) {}

  async run(program: SandboxProgram, signal?: AbortSignal): Promise<SandboxResult> {
    const thread = await (this.#thread ??= begun(this.language));
    signal?.throwIfAborted();
    thread.worker.ref();
    try {
      return await this.#asked(thread, program, signal);
    } finally {
      thread.worker.unref();
    }
  }

  #asked(thread: Thread, program: SandboxProgram, signal?: AbortSignal): Promise<SandboxResult> {
    const at = performance.now();
    return new Promise((resolve, reject) => {
      const over = (isLost: boolean): void => {
        clearTimeout(timer);
        signal?.removeEventListener("abort", aborted);
        thread.heard = () => undefined;
        if (isLost) this.#restart(thread);
      };
      const lose = (failure: SandboxFailure): void => {
        over(true);
        resolve({ stdout: "", stderr: "", seconds: (performance.now() - at) / 1000, failure });
      };
      const aborted = (): void => {
        over(true);
        reject(signal?.reason instanceof Error ? signal.reason : new Error("aborted"));
      };
      const timer = setTimeout(
        () => lose({ kind: "timeout", message: `took longer than ${program.seconds} s` }),
        (program.seconds + grace) * 1000,
      );
      signal?.addEventListener("abort", aborted, { once: true });
      thread.heard = (event) => {
        if (event.kind === "ended") lose(endOf(program, event.error));
        if (event.kind !== "ran") return;
        over(event.spent);
        resolve(event.result);
      };
      thread.worker.postMessage(program);
    });
  }

  /** Begun at once: the next program waits less. */
  #restart(thread: Thread): void {
    this.#thread = begun(this.language);
    // Who waits for it hears of a failure.
    this.#thread.catch(() => undefined);
    void thread.worker.terminate();
  }

  async close(): Promise<void> {
    const thread = await this.#thread?.catch(() => undefined);
    this.#thread = undefined;
    if (thread === undefined) return;
    thread.heard = () => undefined;
    await thread.worker.terminate();
  }
}

const endOf = ({ memory }: SandboxProgram, error: NodeJS.ErrnoException | undefined): SandboxFailure =>
  error?.code === "ERR_WORKER_OUT_OF_MEMORY"
    ? { kind: "memory", message: `asked for more than ${memory} MiB` }
    : { kind: "exception", message: `ended its thread${error === undefined ? "" : `: ${error.message}`}` };
