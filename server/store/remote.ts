/** The main thread's end of the store's thread. */
import { Worker } from "node:worker_threads";
import { UserError } from "../../shared/lib/errors.ts";
import { threadFile } from "../lib/threadFile.ts";
import type { ThreadData } from "./thread.ts";
import type { CallMessage, CallName, StoreCalls, ThreadMessage } from "./wire.ts";

type Parameters_<K extends CallName> = StoreCalls[K] extends (...parameters: infer P) => unknown ? P : never;
type Result_<K extends CallName> = StoreCalls[K] extends (...parameters: never) => infer R ? R : never;

interface RemoteStoreOptions {
  readonly onChanged: (cursor: number) => void;
  readonly onProblem: (text: string) => void;
  /** The tables are built again out of the logs. */
  readonly onRebuilt?: () => void;
  /** The thread ended by itself: the store can no longer be used. */
  readonly onExit: (error: Error | undefined) => void;
}

export class RemoteStore {
  private readonly worker: Worker;
  private readonly waiting = new Map<
    number,
    { readonly resolve: (value: unknown) => void; readonly reject: (error: Error) => void }
  >();
  private next = 1;
  private closed = false;

  constructor(
    store: string,
    private readonly options: RemoteStoreOptions,
  ) {
    const workerData: ThreadData = { store };
    this.worker = new Worker(threadFile("storeThread.mjs", "The store's thread"), {
      workerData,
      name: "gradus-store",
    });
    this.worker.on("message", (message: ThreadMessage) => this.receive(message));
    let failure: Error | undefined;
    this.worker.on("error", (error) => (failure = error instanceof Error ? error : new Error(String(error))));
    this.worker.on("exit", () => this.ended(failure));
  }

  call<K extends CallName>(name: K, ...parameters: Parameters_<K>): Promise<Result_<K>> {
    if (this.closed)
      return Promise.reject(
        new UserError("The store is closed.", { code: "store-failed", action: "Start the daemon again." }),
      );
    const id = this.next++;
    const message: CallMessage = { id, name, parameters };
    return new Promise((resolve, reject) => {
      this.waiting.set(id, { resolve: (value) => resolve(typed<K>(value)), reject });
      this.worker.postMessage(message);
    });
  }

  /** Writes everything out and ends the thread. */
  async close(): Promise<void> {
    if (this.closed) return;
    await this.call("close");
    this.closed = true;
    await this.worker.terminate();
  }

  private receive(message: ThreadMessage): void {
    if ("changed" in message) return this.options.onChanged(message.changed);
    if ("rebuilt" in message) {
      this.options.onRebuilt?.();
      return this.options.onChanged(message.rebuilt);
    }
    if ("problem" in message) return this.options.onProblem(message.problem);
    const waiting = this.waiting.get(message.id);
    this.waiting.delete(message.id);
    if ("error" in message)
      waiting?.reject(
        message.error.detail === null
          ? new Error(message.error.message)
          : new UserError(message.error.message, message.error.detail),
      );
    else waiting?.resolve(message.result);
  }

  private ended(failure: Error | undefined): void {
    const expected = this.closed;
    this.closed = true;
    for (const { reject } of this.waiting.values()) reject(failure ?? new Error("the store's thread ended"));
    this.waiting.clear();
    if (!expected) this.options.onExit(failure);
  }
}

/** Both ends are built from the same wire.ts. */
const typed = <K extends CallName>(value: unknown): Result_<K> => value as Result_<K>;
