/** A worker that answers one question at a time, and who hears of it now. */
import { Worker } from "node:worker_threads";
import type { Heard, Runner } from "./runner.ts";

export type FromThread<Answer> =
  | { readonly kind: "ready" }
  /** `spent`: the thread is to be ended, another begun. */
  | { readonly kind: "ran"; readonly result: Answer; readonly spent: boolean };

export class Thread<Question, Answer> implements Runner<Question, Answer> {
  readonly #worker: Worker;
  heard: Heard<Answer> = () => undefined;
  #isReady: () => void = () => undefined;
  hasEnded = false;
  constructor(file: string, name: string) {
    this.#worker = new Worker(file, {
      name,
      env: {},
      stdout: true,
      stderr: true,
      resourceLimits: { stackSizeMb: 32 },
    });
    this.#worker.on("message", (message: FromThread<Answer>) => {
      if (message.kind === "ready") this.#isReady();
      else this.heard(message);
    });
    this.#worker.on("error", (error) => this.heard({ kind: "ended", error }));
    this.#worker.on("exit", () => {
      this.hasEnded = true;
      this.heard({ kind: "ended" });
    });
  }

  /** Until it can be asked. */
  ready(): Promise<void> {
    return new Promise((resolve, reject) => {
      this.heard = (event) => {
        if (event.kind === "ended") reject(event.error ?? new Error("the thread ended as it started"));
      };
      this.#isReady = () => {
        this.#worker.unref();
        resolve();
      };
    });
  }

  send(question: Question): void {
    this.#worker.postMessage(question);
  }

  reply(): void {
    throw new Error("a thread asks nothing");
  }

  hold(isHeld: boolean): void {
    if (isHeld) this.#worker.ref();
    else this.#worker.unref();
  }

  async end(): Promise<void> {
    await this.#worker.terminate();
  }
}
