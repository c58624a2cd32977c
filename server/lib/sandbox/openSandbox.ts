/** Programs of models, on a few threads that the whole process shares. */
import { availableParallelism } from "node:os";
import { threadFile } from "../threadFile.ts";
import { Lanes } from "../threads/lanes.ts";
import { Thread } from "../threads/thread.ts";
import { partsOf } from "./parts.ts";
import { imageFrom, knownImage } from "./python/image.ts";
import type { Sandbox, SandboxFailure, SandboxLanguage, SandboxProgram, SandboxResult } from "./sandbox.ts";
import type { ThreadData } from "./sandboxThread.ts";

/** Threads of a language. */
export const sandboxThreads = Math.max(1, Math.min(4, availableParallelism()));

const file = (): string =>
  process.env["GRADUS_SANDBOX_THREAD"] ?? threadFile("sandboxThread.mjs", "The thread that runs programs");
const threadOf = (data: ThreadData): Thread<SandboxResult> => new Thread(file(), data, "gradus-sandbox");

async function ready(thread: Thread<SandboxResult>): Promise<Thread<SandboxResult>> {
  await thread.ready();
  return thread;
}

/** A thread that is ready. @throws UserError where it is not built */
async function begun(language: SandboxLanguage): Promise<Thread<SandboxResult>> {
  const parts = await partsOf(language);
  if (parts.language === "javascript") return ready(threadOf(parts));
  const known = await knownImage(parts.parts.version);
  if (known !== undefined) return ready(threadOf({ ...parts, image: known }));
  const thread = threadOf(parts);
  await imageFrom(parts.parts.version, thread.ready());
  return thread;
}

function failureOf(
  { seconds, memory }: SandboxProgram,
  why: "timeout" | "ended",
  error: NodeJS.ErrnoException | undefined,
): SandboxFailure {
  if (why === "timeout") return { kind: "timeout", message: `took longer than ${seconds} s` };
  if (error?.code === "ERR_WORKER_OUT_OF_MEMORY")
    return { kind: "memory", message: `asked for more than ${memory} MiB` };
  return { kind: "exception", message: `ended its thread${error === undefined ? "" : `: ${error.message}`}` };
}

const lanesOf = (language: SandboxLanguage): Lanes<SandboxProgram, SandboxResult> =>
  new Lanes<SandboxProgram, SandboxResult>(sandboxThreads, {
    begin: () => begun(language),
    lost: (program, why, took, error) => ({
      stdout: "",
      stderr: "",
      seconds: took,
      failure: failureOf(program, why, error),
    }),
  });

const languages = { javascript: lanesOf("javascript"), python: lanesOf("python") };
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
