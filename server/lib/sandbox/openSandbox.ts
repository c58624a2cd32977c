/** Programs of models, in a few processes that all who run programs share. */
import { availableParallelism } from "node:os";
import { threadFile } from "../threadFile.ts";
import { Lanes } from "../threads/lanes.ts";
import type { Order, Parts } from "./messages.ts";
import { partsOf, visibleOf } from "./parts.ts";
import { outOfMemory, SandboxProcess } from "./process.ts";
import { dropImage, keepImage } from "./python/image.ts";
import type { Sandbox, SandboxFailure, SandboxLanguage, SandboxProgram, SandboxResult } from "./sandbox.ts";
import { wallOf, type SandboxSetting, type Wall } from "./wall/wall.ts";
import { realPath } from "../../../shared/lib/realPath.ts";

/** Processes of a language. */
export const sandboxProcesses = Math.max(1, Math.min(4, availableParallelism()));

/** Node asks its permissions for the file itself, not for a link to it. */
const file = (): string =>
  realPath(
    process.env["GRADUS_SANDBOX_PROCESS"] ??
      threadFile("sandboxProcess.mjs", "The process that runs programs"),
  );

/**
 * KiB: the smallest of the main thread of each system, less what Node itself takes. On Windows a program says how much it wants,
 * and node.exe says 8 MiB; of an editor's own program that is not known, and a megabyte is what Windows gives otherwise.
 */
const stack = process.platform === "win32" && process.versions["electron"] !== undefined ? 900 : 7000;
/** MiB that the JavaScript around an interpreter may hold; programs have memory of their own. */
const heap = 256;

/** From the kept image, or, where no process starts from that, once more without. */
async function processOf(language: SandboxLanguage, wall: Wall): Promise<SandboxProcess> {
  const parts = await partsOf(language);
  const image = parts.language === "python" ? parts.image : undefined;
  try {
    return await processWith(parts, wall);
  } catch (error) {
    if (image === undefined) throw error;
    await dropImage(image);
    return processWith(await partsOf(language), wall);
  }
}

async function processWith(parts: Parts, wall: Wall): Promise<SandboxProcess> {
  const bundle = file();
  const flags = ["--no-warnings", `--stack-size=${stack}`, `--max-old-space-size=${heap}`];
  const command = wall.command([process.execPath, ...flags, bundle], [bundle, ...visibleOf(parts)]);
  const made = new SandboxProcess(command, parts);
  const image = await made.ready();
  if (image !== undefined && parts.language === "python") await keepImage(parts, image);
  return made;
}

/** The first of a machine makes the image that all others start from. */
let making: Promise<unknown> | undefined;
async function begun(language: SandboxLanguage, wall: Wall): Promise<SandboxProcess> {
  if (language === "javascript") return processOf(language, wall);
  await making?.catch(() => undefined);
  const made = processOf(language, wall);
  making ??= made;
  return made;
}

function failureOf(
  { seconds, memory }: SandboxProgram,
  why: "timeout" | "ended",
  error: NodeJS.ErrnoException | undefined,
): SandboxFailure {
  if (why === "timeout") return { kind: "timeout", message: `took longer than ${seconds} s` };
  if (error?.code === outOfMemory) return { kind: "memory", message: `asked for more than ${memory} MiB` };
  return {
    kind: "exception",
    message: `ended its process${error === undefined ? "" : `: ${error.message}`}`,
  };
}

type Pool = Lanes<Order, SandboxResult>;

const poolOf = (language: SandboxLanguage, wall: Promise<Wall>): Pool =>
  new Lanes<Order, SandboxResult>(sandboxProcesses, {
    begin: async () => begun(language, await wall),
    lost: (program, why, took, error) => ({
      stdout: "",
      stderr: "",
      seconds: took,
      failure: failureOf(program, why, error),
    }),
  });

interface Pools {
  readonly languages: Readonly<Record<SandboxLanguage, Pool>>;
  open: number;
}
/** One pool a wall and a language, whoever opens it. */
const pools = new Map<string, Pools>();

function poolsOf(setting: SandboxSetting, role: "programs" | "judges"): Pools {
  const key = JSON.stringify([setting, role]);
  const known = pools.get(key);
  if (known !== undefined) return known;
  const wall = wallOf(setting);
  // Who runs a program hears of it.
  wall.catch(() => undefined);
  const languages = { javascript: poolOf("javascript", wall), python: poolOf("python", wall) };
  const made = { languages, open: 0 };
  pools.set(key, made);
  return made;
}

/**
 * Costs nothing until a program is run; the last one that closes ends the processes.
 * @param role judges have processes of their own: programs wait for them, so that they may not wait for programs
 */
export function openSandbox(
  setting: SandboxSetting = "auto",
  role: "programs" | "judges" = "programs",
): Sandbox {
  const own = poolsOf(setting, role);
  own.open++;
  let isOpen = true;
  return {
    async run(program, signal, answer) {
      signal?.throwIfAborted();
      const order = { ...program, isAnswered: answer !== undefined };
      return own.languages[program.language].run(order, { signal, reply: answer });
    },
    async close() {
      if (!isOpen) return;
      isOpen = false;
      own.open--;
      if (own.open === 0) await Promise.all([own.languages.python.close(), own.languages.javascript.close()]);
    },
  };
}
