/** One child process that runs a user's reward: started, asked one rollout at a time, killed when it takes too long. */
import { fork, type ChildProcess } from "node:child_process";
import { randomUUID } from "node:crypto";
import { existsSync } from "node:fs";
import { dirname, join } from "node:path";
import { fileURLToPath } from "node:url";
import { withBundleFile } from "./bundleFile.ts";
import { Printed } from "./printed.ts";
import { endGroup, markName } from "./processGroup.ts";
import { isTermValue, type FromHost, type ToHost } from "./wire.ts";

/** Why no answer came. */
export class NoAnswer extends Error {
  constructor(
    readonly cause_: "timeout" | "crash" | "aborted",
    message: string,
  ) {
    super(message);
  }
}

/** The built host is next to the bundle that runs this, or one folder up for a chunk of it. */
function hostFile(): string {
  const here = dirname(fileURLToPath(import.meta.url));
  const places = [
    process.env["GRADUS_REWARD_HOST"],
    join(here, "rewardHost.mjs"),
    join(here, "..", "rewardHost.mjs"),
    join(process.cwd(), "dist", "rewardHost.mjs"),
  ];
  const found = places.find((place) => place !== undefined && existsSync(place));
  if (found === undefined)
    throw new Error("dist/rewardHost.mjs is missing: build Gradus with `node esbuild.mjs`");
  return found;
}

/** Whether a message, which may be anything, is the answer to a question. */
function answers(question: ToHost, answer: FromHost): boolean {
  if (question.kind === "load") return answer.kind === "loaded" || answer.kind === "refused";
  return answer.kind === "scored" && answer.id === question.id && isTermValue(answer.value);
}

export class HostProcess {
  private readonly child: ChildProcess;
  private readonly mark = randomUUID();
  private readonly printed: Printed;
  private ended: string | undefined;
  private waiting:
    { readonly resolve: (message: FromHost) => void; readonly reject: (error: Error) => void } | undefined;

  constructor(folder: string) {
    this.child = fork(hostFile(), [], {
      cwd: folder,
      serialization: "advanced",
      execArgv: ["--enable-source-maps"],
      // A group of its own, so that what the user's code starts ends with it.
      detached: process.platform !== "win32",
      env: { ...process.env, [markName]: this.mark },
      stdio: ["ignore", "pipe", "pipe", "ipc"],
    });
    this.printed = new Printed([this.child.stdout, this.child.stderr]);
    this.child.on("message", (message: FromHost) => this.answer(message));
    this.child.on("error", (error) => this.end(`could not be run: ${error.message}`));
    this.child.on("exit", (code, signal) => {
      this.endGroup();
      this.printed.close();
      this.end(
        signal === null ? `the process ended with exit code ${code}` : `the process was ended by ${signal}`,
      );
    });
    // An ending process closes its channel first, and how it ended says more.
    this.child.on(
      "disconnect",
      () => void setTimeout(() => this.end("the process closed its channel"), 500).unref(),
    );
  }

  /** Loads a function into the process. */
  load(text: string, name: string, seconds: number): Promise<FromHost> {
    return withBundleFile(text, (bundle) => this.ask({ kind: "load", bundle, export: name }, seconds));
  }

  /** One question, one answer. After a NoAnswer the process is dead. */
  ask(message: ToHost, seconds: number, signal?: AbortSignal): Promise<FromHost> {
    if (this.ended !== undefined) return Promise.reject(new NoAnswer("crash", this.ended));
    if (signal?.aborted === true) return Promise.reject(new NoAnswer("aborted", "aborted"));
    return new Promise<FromHost>((resolve, reject) => {
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
        // What answers no question of ours, or another one, is the user's code speaking: the answer is still to come.
        resolve: (answer) => {
          if (!answers(message, answer)) return;
          done();
          resolve(answer);
        },
        reject: (error) => (done(), reject(error)),
      };
      this.child.send(message, (error) => {
        if (error !== null) this.end(`could not be called: ${error.message}`);
      });
    });
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

  private answer(message: FromHost | null): void {
    if (typeof message === "object" && message !== null) this.waiting?.resolve(message);
  }

  private end(reason: string): void {
    this.ended ??= reason;
    this.waiting?.reject(new NoAnswer("crash", reason));
  }
}
