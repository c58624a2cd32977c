/** The main thread's end of scoring rollouts again: one thread for the daemon, started when it is first needed. */
import { Worker } from "node:worker_threads";
import { messageOf } from "../../../shared/lib/errors.ts";
import type { Rescored } from "../../../shared/rollouts/rescore.ts";
import type { RemoteStore } from "../../store/remote.ts";
import { threadFile } from "../../lib/threadFile.ts";
import { errorOf, threadError } from "../threadError.ts";
import type { FromThread, RescoreAnswer, ToThread, RescoreRequest } from "./rescoreWire.ts";

/** Its memory is given back after so long without a request. */
const idleAfter = 5 * 60_000;
/** A computation that a config's own pattern keeps from ending is ended with its thread. */
const hangsAfter = 60_000;

/** The request was overtaken by the next of its key. */
export class Overtaken extends Error {}

interface Waiting {
  readonly key: string;
  readonly part: (rescored: Rescored) => void;
  readonly done: (answer: RescoreAnswer) => void;
  readonly failed: (error: Error) => void;
  answer: RescoreAnswer;
}

export class Rescorer {
  private worker: Worker | undefined;
  private readonly waiting = new Map<number, Waiting>();
  private next = 0;
  private timer: NodeJS.Timeout | undefined;

  constructor(
    private readonly remote: Pick<RemoteStore, "call">,
    private readonly log: (text: string) => void,
  ) {}

  /**
   * A request ends the one of the same key that is under way, which rejects with `Overtaken`.
   * @param part receives the last step, then more of the run
   */
  ask(key: string, request: RescoreRequest, part: (rescored: Rescored) => void): Promise<RescoreAnswer> {
    this.cancel(key);
    const id = this.next++;
    return new Promise((done, failed) => {
      this.waiting.set(id, { key, part, done, failed, answer: {} });
      this.send({ kind: "request", id, request });
      this.rest(hangsAfter);
    });
  }

  /** For the daemon's log. */
  note(text: string): void {
    this.log(`rescore: ${text}`);
  }

  cancel(key: string): void {
    for (const [id, waiting] of this.waiting)
      if (waiting.key === key) {
        this.waiting.delete(id);
        this.send({ kind: "cancel", id });
        waiting.failed(new Overtaken("a newer edit replaced this one"));
      }
  }

  /** Lets the thread end the processes of rewards, then ends it. */
  async close(): Promise<void> {
    clearTimeout(this.timer);
    const { worker } = this;
    this.worker = undefined;
    if (worker === undefined) return;
    worker.postMessage({ kind: "close" } satisfies ToThread);
    const ended = new Promise<void>((resolve) => worker.once("exit", () => resolve()));
    const patience = new Promise<void>((resolve) => setTimeout(resolve, 1_000).unref());
    await Promise.race([ended, patience]);
    await worker.terminate();
  }

  private send(message: ToThread): void {
    this.worker ??= this.started();
    this.worker.postMessage(message);
  }

  /** A thread that has ended meanwhile needs no answer. */
  private answer(message: ToThread): void {
    this.worker?.postMessage(message);
  }

  private started(): Worker {
    const worker = new Worker(threadFile("rescoreThread.mjs", "The thread that re-scores rollouts"), {
      name: "gradus-rescore",
    });
    worker.unref();
    worker.on("message", (message: FromThread) => this.receive(message));
    worker.on("error", (error) => this.note(messageOf(error)));
    worker.on("exit", () => {
      if (this.worker !== worker) return;
      this.worker = undefined;
      this.fail("the thread that re-scores rollouts ended");
    });
    return worker;
  }

  private receive(message: FromThread): void {
    if (message.kind === "places?") return void this.place(message);
    const waiting = this.waiting.get(message.id);
    if (waiting === undefined) return;
    if (message.kind === "part") waiting.part(message.rescored);
    else if (message.kind === "swept") waiting.answer = { sweep: message.sweep };
    else if (message.kind === "covered") waiting.answer = { coverage: message.coverage };
    else this.settle(message.id, waiting, message);
  }

  private settle(
    id: number,
    waiting: Waiting,
    message: Extract<FromThread, { kind: "done" | "cancelled" | "failed" }>,
  ): void {
    this.waiting.delete(id);
    if (this.waiting.size === 0) this.rest(idleAfter);
    if (message.kind === "done") return waiting.done(waiting.answer);
    if (message.kind === "cancelled") return waiting.failed(new Overtaken("a newer edit replaced this one"));
    waiting.failed(errorOf(message));
  }

  private async place({ id, run, step }: Extract<FromThread, { kind: "places?" }>): Promise<void> {
    try {
      const places = await this.remote.call("rolloutPlaces", run, step);
      this.answer({ kind: "places", id, places });
    } catch (error) {
      this.answer({ kind: "no-places", id, ...threadError(error) });
    }
  }

  /** Ends the thread when it has produced nothing, or nothing was requested, for so long. */
  private rest(milliseconds: number): void {
    clearTimeout(this.timer);
    this.timer = setTimeout(() => {
      this.fail("re-scoring the rollouts did not finish");
      this.close().catch((error: unknown) => this.note(messageOf(error)));
    }, milliseconds).unref();
  }

  private fail(reason: string): void {
    for (const { failed } of this.waiting.values()) failed(new Error(reason));
    this.waiting.clear();
  }
}
