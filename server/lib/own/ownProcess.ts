/**
 * A child process that runs a user's code: in a group of its own, asked one thing at a time, killed with all that it
 * started when it takes too long.
 */
import type { ChildProcess } from "node:child_process";
import { existsSync } from "node:fs";
import { dirname, join } from "node:path";
import { fileURLToPath } from "node:url";
import { Printed } from "./printed.ts";
import { endGroup } from "./processGroup.ts";

/** Why no answer came. */
export class NoAnswer extends Error {
  constructor(
    readonly cause_: "timeout" | "crash" | "aborted",
    message: string,
  ) {
    super(message);
  }
}

/** The built file of a host is next to the bundle that runs this, or one folder up for a chunk of it. */
export function hostFile(name: string, named: string | undefined): string {
  const here = dirname(fileURLToPath(import.meta.url));
  const places = [named, join(here, name), join(here, "..", name), join(process.cwd(), "dist", name)];
  const found = places
    .flatMap((place) => (place === undefined ? [] : [place, `${place}.br`]))
    .find((place) => existsSync(place));
  if (found === undefined) throw new Error(`dist/${name} is missing: build Gradus with \`node esbuild.mjs\``);
  return found;
}

/** What a message of the process is to the question that waits: nothing, a part of its answer, or the last part. */
export type Part = "other" | "more" | "last";

interface Waiting<Answer> {
  readonly take: (message: Answer) => void;
  readonly reject: (error: Error) => void;
}

export abstract class OwnProcess<Question, Answer> {
  private readonly printed: Printed;
  private ended: string | undefined;
  private waiting: Waiting<Answer> | undefined;

  /** @param mark in the environment of the process and of what it starts */
  protected constructor(
    protected readonly child: ChildProcess,
    private readonly mark: string,
  ) {
    this.printed = new Printed([child.stdout, child.stderr]);
    child.on("error", (error) => this.end(`could not be run: ${error.message}`));
    child.on("exit", (code, signal) => {
      this.endGroup();
      this.printed.close();
      this.end(
        signal === null ? `the process ended with exit code ${code}` : `the process was ended by ${signal}`,
      );
    });
  }

  protected abstract send(question: Question): void;

  /**
   * Asks one thing. After a NoAnswer the process is dead.
   * @param seconds until the next part of the answer
   * @param take is given what the process says meanwhile
   */
  protected converse(
    question: Question,
    seconds: number,
    signal: AbortSignal | undefined,
    take: (message: Answer) => Part,
  ): Promise<void> {
    if (this.ended !== undefined) return Promise.reject(new NoAnswer("crash", this.ended));
    if (signal?.aborted === true) return Promise.reject(new NoAnswer("aborted", "aborted"));
    return new Promise<void>((resolve, reject) => {
      const give = (cause: "timeout" | "aborted", text: string): void => {
        done();
        this.kill();
        reject(new NoAnswer(cause, text));
      };
      const timer = setTimeout(() => give("timeout", `timeout after ${seconds} s`), seconds * 1000);
      const aborted = (): void => give("aborted", "aborted");
      const done = (): void => {
        clearTimeout(timer);
        signal?.removeEventListener("abort", aborted);
        this.waiting = undefined;
      };
      signal?.addEventListener("abort", aborted);
      this.printed.allowMore();
      this.waiting = {
        // What is no part of the answer is the user's code speaking: the answer is still to come.
        take: (message) => {
          const part = take(message);
          if (part === "more") timer.refresh();
          if (part !== "last") return;
          done();
          resolve();
        },
        reject: (error) => (done(), reject(error)),
      };
      this.send(question);
    });
  }

  protected hear(message: Answer): void {
    this.waiting?.take(message);
  }

  protected end(reason: string): void {
    this.ended ??= reason;
    this.waiting?.reject(new NoAnswer("crash", reason));
  }

  kill(): void {
    this.ended ??= "the process was ended";
    this.endGroup();
  }

  private endGroup(): void {
    if (this.child.pid !== undefined) endGroup(this.child.pid, this.mark);
  }

  /** Resolves when the process is gone. */
  close(): Promise<void> {
    if (this.child.exitCode !== null || this.child.signalCode !== null || this.child.pid === undefined)
      return Promise.resolve();
    return new Promise((resolve) => {
      this.child.once("exit", () => resolve());
      this.kill();
    });
  }
}
