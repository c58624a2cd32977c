/** One child process that runs a user's reward: started, asked one rollout at a time, killed when it takes too long. */
import { fork, type ChildProcess } from "node:child_process";
import { existsSync } from "node:fs";
import { dirname, join } from "node:path";
import { fileURLToPath } from "node:url";
import type { FromHost, ToHost } from "./wire.ts";

/** Why no answer came. */
export class NoAnswer extends Error {
  constructor(
    readonly cause_: "timeout" | "crash" | "aborted",
    message: string,
  ) {
    super(message);
  }
}

/** The built host lies beside the bundle that runs this, or one folder up for a chunk of it. */
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

export class HostProcess {
  private readonly child: ChildProcess;
  private ended: string | undefined;
  private waiting:
    { readonly resolve: (message: FromHost) => void; readonly reject: (error: Error) => void } | undefined;

  constructor(folder: string) {
    this.child = fork(hostFile(), [], {
      cwd: folder,
      serialization: "advanced",
      execArgv: ["--enable-source-maps"],
      // What the user's code prints goes to our stderr: stdout carries results only.
      stdio: ["ignore", 2, 2, "ipc"],
    });
    this.child.on("message", (message: FromHost) => this.answer(message));
    this.child.on("error", (error) => this.end(`could not be run: ${error.message}`));
    this.child.on("exit", (code, signal) =>
      this.end(
        signal === null ? `the process ended with exit code ${code}` : `the process was ended by ${signal}`,
      ),
    );
    // An ending process closes its channel first, and how it ended says more.
    this.child.on(
      "disconnect",
      () => void setTimeout(() => this.end("the process closed its channel"), 500).unref(),
    );
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
      this.waiting = {
        resolve: (answer) => (done(), resolve(answer)),
        reject: (error) => (done(), reject(error)),
      };
      this.child.send(message, (error) => {
        if (error !== null) this.end(`could not be asked: ${error.message}`);
      });
    });
  }

  kill(): void {
    this.ended ??= "the process was ended";
    this.child.kill("SIGKILL");
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

  private answer(message: FromHost): void {
    this.waiting?.resolve(message);
  }

  private end(reason: string): void {
    this.ended ??= reason;
    this.waiting?.reject(new NoAnswer("crash", reason));
  }
}
