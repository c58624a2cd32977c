/** A worker that answers one question at a time, and who hears of it now. */
import { Worker } from "node:worker_threads";

export type FromThread<Answer> =
  | { readonly kind: "ready"; readonly image?: Uint8Array }
  /** `spent`: the thread is to be ended, another begun. */
  | { readonly kind: "ran"; readonly result: Answer; readonly spent: boolean };

export type Heard<Answer> = (
  event: FromThread<Answer> | { readonly kind: "ended"; readonly error?: NodeJS.ErrnoException },
) => void;

export class Thread<Answer> {
  readonly worker: Worker;
  heard: Heard<Answer> = () => undefined;
  /** It may end while nobody asks it anything. */
  hasEnded = false;
  constructor(file: string, data: object, name: string) {
    this.worker = new Worker(file, {
      workerData: data,
      name,
      env: {},
      stdout: true,
      stderr: true,
      resourceLimits: { stackSizeMb: 32 },
    });
    this.worker.on("message", (message: FromThread<Answer>) => this.heard(message));
    this.worker.on("error", (error) => this.heard({ kind: "ended", error }));
    this.worker.on("exit", () => {
      this.hasEnded = true;
      this.heard({ kind: "ended" });
    });
  }

  /** Until it can be asked; what it made for others to start from. */
  ready(): Promise<Uint8Array | undefined> {
    return new Promise((resolve, reject) => {
      this.heard = (event) => {
        if (event.kind === "ended") reject(event.error ?? new Error("the thread ended as it started"));
        if (event.kind !== "ready") return;
        this.worker.unref();
        resolve(event.image);
      };
    });
  }
}
