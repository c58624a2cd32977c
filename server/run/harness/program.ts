/**
 * The user's harness: a program that works on a task by calling the policy as a model server. It runs once a rollout, or
 * stays and is given rollouts as lines of JSON. It is ended with all that it started.
 */
import { spawn, type ChildProcess } from "node:child_process";
import { randomUUID } from "node:crypto";
import { createInterface } from "node:readline";
import { z } from "zod";
import { messageOf } from "../../../shared/lib/errors.ts";
import type { JsonObject } from "../../../shared/lib/json.ts";
import { cut } from "../../lib/own/cut.ts";
import { guarded } from "../../lib/own/guard.ts";
import { LastWords } from "../../lib/own/lastWords.ts";
import { endGroup, markName } from "../../lib/own/processGroup.ts";
import { admit } from "../../lib/own/withheld.ts";

/** One rollout's work. */
export interface HarnessJob {
  readonly id: string;
  /** What the program reads: the task, and where the policy is. */
  readonly work: JsonObject;
  /** The same for programs that read only their environment. */
  readonly environment: Readonly<Record<string, string>>;
}

const verdictSchema = z.looseObject({
  id: z.string().optional(),
  reward: z.number().nullish(),
  components: z.record(z.string(), z.number()).optional(),
  error: z.string().optional(),
});

/** What the program says of a rollout. */
export type HarnessVerdict =
  | {
      readonly kind: "done";
      /** The task's own verdict; absent: it has none. */
      readonly reward?: number;
      readonly components: Readonly<Record<string, number>>;
    }
  | { readonly kind: "failed"; readonly message: string };

export interface HarnessProgram {
  /** Never rejects: what goes wrong is the rollout's error. */
  run(job: HarnessJob, seconds: number, signal: AbortSignal): Promise<HarnessVerdict>;
  close(): void;
}

/** A command line for the shell, or a program with its arguments. */
export type Command = string | readonly string[];

interface Started {
  readonly child: ChildProcess;
  end(): void;
}

function started(command: Command, folder: string, environment: Readonly<Record<string, string>>): Started {
  admit("The harness", folder);
  const mark = randomUUID();
  const [program, ...words] = typeof command === "string" ? [command] : command;
  const child = spawn(program!, words, {
    cwd: folder,
    shell: typeof command === "string",
    // A group of its own, so that what the harness starts ends with it.
    detached: process.platform !== "win32",
    windowsHide: true,
    env: { ...process.env, ...environment, [markName]: mark },
    stdio: ["pipe", "pipe", "pipe"],
  });
  // How the process ended says more than a broken pipe.
  child.stdin?.on("error", () => child.stdin?.destroy());
  const { pid } = child;
  if (pid === undefined) return { child, end: () => undefined };
  const release = guarded(pid, mark);
  const end = (): void => {
    release();
    endGroup(pid, mark);
  };
  return { child, end };
}

const failed = (message: string): HarnessVerdict => ({ kind: "failed", message: cut(message) });

/** A line as a verdict; undefined: the program speaks of something else. */
function verdictIn(line: string): z.output<typeof verdictSchema> | undefined {
  if (!line.trimStart().startsWith("{")) return undefined;
  try {
    return verdictSchema.safeParse(JSON.parse(line)).data;
  } catch {
    return undefined; // a line of the program's own that only begins as JSON does
  }
}

function verdictOf({ reward, components = {}, error }: z.output<typeof verdictSchema>): HarnessVerdict {
  if (error !== undefined) return failed(error);
  return { kind: "done", components, ...(typeof reward === "number" && { reward }) };
}

const ended = (code: number | null, signal: NodeJS.Signals | null, said: string): string =>
  `the harness ended ${signal === null ? `with exit code ${code}` : `by ${signal}`}${said === "" ? "" : `: ${said}`}`;

/**
 * What a rollout comes to within its time, and unless it is aborted.
 * @param begin is given what ends the wait; what it returns is called once the wait has ended
 */
const answered = (
  seconds: number,
  signal: AbortSignal,
  begin: (done: (verdict: HarnessVerdict) => void) => () => void,
): Promise<HarnessVerdict> =>
  new Promise((resolve) => {
    const done = (verdict: HarnessVerdict): void => {
      clearTimeout(timer);
      signal.removeEventListener("abort", aborted);
      over();
      resolve(verdict);
    };
    const timer = setTimeout(() => done(failed(`timeout after ${seconds} s`)), seconds * 1000);
    const aborted = (): void => done(failed("aborted"));
    signal.addEventListener("abort", aborted);
    const over = begin(done);
  });

/** A process a rollout. The verdict is the last line of its output that is an object in JSON with a reward or an error. */
export class ProgramPerRollout implements HarnessProgram {
  private readonly running = new Set<Started>();

  constructor(
    private readonly command: Command,
    private readonly folder: string,
  ) {}

  run(job: HarnessJob, seconds: number, signal: AbortSignal): Promise<HarnessVerdict> {
    if (signal.aborted) return Promise.resolve(failed("aborted"));
    return answered(seconds, signal, (done) => {
      const own = started(this.command, this.folder, job.environment);
      this.running.add(own);
      const { child } = own;
      const words = new LastWords(child);
      let verdict: z.output<typeof verdictSchema> | undefined;
      createInterface({ input: child.stdout! }).on("line", (line) => {
        const found = verdictIn(line);
        if (found?.reward !== undefined || found?.error !== undefined) verdict = found;
      });
      child.on("error", (error) => done(failed(`the harness could not be run: ${messageOf(error)}`)));
      // What it left running may hold its pipes open.
      child.on("exit", () => own.end());
      child.on("close", (code, killed) => {
        if (code !== 0) done(failed(ended(code, killed, words.last(3))));
        else done(verdict === undefined ? { kind: "done", components: {} } : verdictOf(verdict));
      });
      child.stdin?.end(`${JSON.stringify(job.work)}\n`);
      return () => {
        this.running.delete(own);
        own.end();
      };
    });
  }

  close(): void {
    for (const one of this.running) one.end();
  }
}

/** One process for all rollouts: a line of JSON each way, with the job's `id`, in any order. It is started again where it ended. */
export class WarmProgram implements HarnessProgram {
  private now: Started | undefined;
  private readonly waiting = new Map<string, (verdict: HarnessVerdict) => void>();

  constructor(
    private readonly command: Command,
    private readonly folder: string,
  ) {}

  run({ id, work, environment }: HarnessJob, seconds: number, signal: AbortSignal): Promise<HarnessVerdict> {
    if (signal.aborted) return Promise.resolve(failed("aborted"));
    const own = (this.now ??= this.start(environment));
    return answered(seconds, signal, (done) => {
      this.waiting.set(id, done);
      own.child.stdin?.write(`${JSON.stringify({ id, ...work })}\n`);
      // A late answer finds nobody who waits for it.
      return () => this.waiting.delete(id);
    });
  }

  private start(environment: Readonly<Record<string, string>>): Started {
    const own = started(this.command, this.folder, environment);
    const words = new LastWords(own.child);
    const gone = (message: string): void => {
      if (this.now === own) this.now = undefined;
      own.end();
      for (const done of [...this.waiting.values()]) done(failed(message));
    };
    createInterface({ input: own.child.stdout! }).on("line", (line) => {
      const found = verdictIn(line);
      if (found?.id !== undefined) this.waiting.get(found.id)?.(verdictOf(found));
    });
    own.child.on("error", (error) => gone(`the harness could not be run: ${messageOf(error)}`));
    own.child.on("close", (code, killed) => gone(ended(code, killed, words.last(3))));
    return own;
  }

  close(): void {
    this.now?.end();
  }
}
