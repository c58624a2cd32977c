/** Programs of models, on a few threads that the whole process shares. */
import { availableParallelism } from "node:os";
import { Lane } from "./lane.ts";
import type { Sandbox, SandboxLanguage, SandboxProgram, SandboxResult } from "./sandbox.ts";

/** Threads of a language. */
export const sandboxThreads = Math.max(1, Math.min(4, availableParallelism()));

/** The lanes of a language: those that are free, and who waits for one. */
class Lanes {
  readonly #all: Lane[] = [];
  readonly #free: Lane[] = [];
  readonly #waiting: ((lane: Lane) => void)[] = [];
  constructor(private readonly language: SandboxLanguage) {}

  async run(program: SandboxProgram, signal?: AbortSignal): Promise<SandboxResult> {
    const lane = await this.#take();
    try {
      return await lane.run(program, signal);
    } finally {
      const next = this.#waiting.shift();
      if (next === undefined) this.#free.push(lane);
      else next(lane);
    }
  }

  #take(): Promise<Lane> {
    const free = this.#free.pop();
    if (free !== undefined) return Promise.resolve(free);
    if (this.#all.length >= sandboxThreads) return new Promise((resolve) => this.#waiting.push(resolve));
    const made = new Lane(this.language);
    this.#all.push(made);
    return Promise.resolve(made);
  }

  async close(): Promise<void> {
    await Promise.all(this.#all.map((lane) => lane.close()));
  }
}

const languages: Record<SandboxLanguage, Lanes> = {
  javascript: new Lanes("javascript"),
  python: new Lanes("python"),
};
let open = 0;

/** Costs nothing until a program is run; the last one that closes ends the threads. */
export function openSandbox(): Sandbox {
  open++;
  let isOpen = true;
  return {
    async run(program, signal) {
      signal?.throwIfAborted();
      return languages[program.language].run(program, signal);
    },
    async close() {
      if (!isOpen) return;
      isOpen = false;
      open--;
      if (open === 0) await Promise.all([languages.python.close(), languages.javascript.close()]);
    },
  };
}
