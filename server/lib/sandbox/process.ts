/** A process that runs programs of one language, as who began it sees it. What it says is checked: a program may have taken it over. */
import { spawn, type ChildProcess } from "node:child_process";
import { z } from "zod";
import { UserError } from "../../../shared/lib/errors.ts";
import type { Heard, Runner } from "../threads/runner.ts";
import { Frames, frameOf } from "./frames.ts";
import { javaScriptOutcome, javaScriptRan } from "./javascript/outcome.ts";
import type { Answered, Order, Parts } from "./messages.ts";
import { pythonOutcome, pythonRan } from "./python/outcome.ts";
import { mostQuestion, type SandboxResult } from "./sandbox.ts";
import type { WallCommand } from "./wall/wall.ts";

const ranOf = <Ran extends z.ZodType>(ran: Ran) =>
  z.object({ kind: z.literal("ran"), ran, held: z.number().nonnegative(), spent: z.boolean() });
const said = z.union([
  z.object({ kind: z.literal("asks"), text: z.string().max(mostQuestion) }),
  ranOf(pythonRan),
  ranOf(javaScriptRan),
]);
const ready = z.object({ kind: z.literal("ready"), image: z.base64().optional() });

/** Code of an error: V8 gave up. */
export const outOfMemory = "ERR_OUT_OF_MEMORY";

/** What a shell ends with whose program was aborted. */
const aborted = 134;

/** Bytes of a message: what a program may print, its errors and what it tells, each character six bytes at most. */
const mostSaid = 64 << 20;

/** Variables without which a program of Node does not start; none of them says anything of this machine's user. */
const kept = ["SystemRoot", ...(process.versions["electron"] === undefined ? [] : ["ELECTRON_RUN_AS_NODE"])];
const environment = (): NodeJS.ProcessEnv =>
  Object.fromEntries(
    kept.flatMap((name) => (process.env[name] === undefined ? [] : [[name, process.env[name]]])),
  );

export class SandboxProcess implements Runner<Order, SandboxResult> {
  readonly #child: ChildProcess;
  readonly #exit: Promise<void>;
  #held = 0;
  #order: Order | undefined;
  #ready: ((image: Buffer | undefined) => void) | undefined;
  heard: Heard<SandboxResult> = () => undefined;
  hasEnded = false;

  constructor({ file, args, options }: WallCommand, parts: Parts) {
    this.#child = spawn(file, args, {
      ...options,
      env: environment(),
      windowsHide: true,
      stdio: ["pipe", "pipe", "ignore"],
    });
    this.#exit = new Promise((resolve) => {
      const ended = (error?: Error): void => {
        this.hasEnded = true;
        this.heard({ kind: "ended", ...(error && { error }) });
        resolve();
      };
      this.#child.once("error", ended);
      this.#child.once("close", (code, signal) =>
        ended(
          signal === "SIGABRT" || code === aborted
            ? Object.assign(new Error("out of memory"), { code: outOfMemory })
            : undefined,
        ),
      );
    });
    // It may end before it has read all.
    this.#child.stdin?.on("error", () => undefined);
    const frames = new Frames(mostSaid, (text) => this.#hear(text));
    this.#child.stdout?.on("data", (bytes: Buffer) => this.#guarded(() => frames.push(bytes)));
    this.#tell(parts);
  }

  /** Until it can be asked. @returns what others may start from, where it was to make that */
  ready(): Promise<Buffer | undefined> {
    return new Promise((resolve, reject) => {
      this.heard = (event) => {
        if (event.kind === "ended") reject(notStarted(event.error));
      };
      this.#ready = resolve;
    });
  }

  #hear(text: string): void {
    const message: unknown = JSON.parse(text);
    const begun = this.#ready;
    if (begun !== undefined) {
      this.#ready = undefined;
      const { image } = ready.parse(message);
      this.hold(false);
      begun(image === undefined ? undefined : Buffer.from(image, "base64"));
      return;
    }
    const told = said.parse(message);
    const order = this.#order;
    if (order === undefined) throw new Error("an answer without a question");
    if (told.kind === "asks") return this.heard(told);
    this.#held = told.held;
    this.#order = undefined;
    this.heard({ kind: "ran", result: outcomeOf(told.ran, order), spent: told.spent });
  }

  /** What it says that none of ours would say ends it, and is the failure of the program that it ran. */
  #guarded(work: () => void): void {
    if (this.hasEnded) return;
    try {
      work();
    } catch {
      this.#child.kill("SIGKILL");
    }
  }

  #tell(message: Parts | Order | Answered): void {
    this.#child.stdin?.write(frameOf(message));
  }

  send(order: Order): void {
    this.#order = order;
    this.#tell(order);
  }

  reply(text: string | undefined): void {
    this.#tell({ text: text ?? null });
  }

  /** A memory that has grown beyond what a program may hold would not refuse it more. */
  suits({ memory }: Order): boolean {
    return this.#held <= memory;
  }

  hold(isHeld: boolean): void {
    const ends = [
      this.#child,
      this.#child.stdin,
      this.#child.stdout,
    ] as (Partial<NodeJS.RefCounted> | null)[];
    for (const end of ends)
      if (isHeld) end?.ref?.();
      else end?.unref?.();
  }

  async end(): Promise<void> {
    this.hold(true);
    this.#child.kill("SIGKILL");
    await this.#exit;
  }
}

function outcomeOf(
  ran: z.output<typeof pythonRan> | z.output<typeof javaScriptRan>,
  order: Order,
): SandboxResult {
  return ran.language === "python" ? pythonOutcome(ran, order) : javaScriptOutcome(ran, order);
}

const notStarted = (cause: Error | undefined): UserError =>
  new UserError(
    `The process that runs programs ended as it started${cause === undefined ? "" : `: ${cause.message}`}.`,
    { code: "sandbox", action: "Run `gradus doctor`: it shows what this machine lacks.", cause },
  );
