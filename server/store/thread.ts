/**
 * The worker thread that owns SQLite. Questions are answered as they come; logs are read in slices of a few
 * milliseconds in between, so a question never waits for more than one slice.
 */
import { setImmediate as immediately } from "node:timers";
import { setImmediate } from "node:timers/promises";
import { parentPort, workerData } from "node:worker_threads";
import { UserError, messageOf } from "../../shared/lib/errors.ts";
import { isSettled } from "../../shared/protocol/runStatus.ts";
import type { Queries } from "./queries/queries.ts";
import { isDamage, rebuilding, setAside } from "./drivers/damaged.ts";
import { inWords } from "./drivers/fullDisk.ts";
import { LostSteps } from "./queries/unreadRollouts.ts";
import { Store } from "./store.ts";
import type { CallMessage, CallName, StoreCalls, ThreadMessage } from "./wire.ts";

type OwnName =
  | Exclude<keyof StoreCalls, keyof Queries>
  | "scan"
  | "rollouts"
  | "series"
  | "search"
  | "damage";
type OwnCalls = {
  readonly [Name in OwnName]: (
    ...parameters: Parameters<StoreCalls[Name]>
  ) => ReturnType<StoreCalls[Name]> | Promise<ReturnType<StoreCalls[Name]>>;
};

/** Milliseconds of reading before others have their turn. */
const longestSlice = 5;
/** Milliseconds that a search waits for the index before it answers with what there is. */
const searchPatience = 2_000;

class StoreThread {
  /** Runs with something to read, oldest first; deleted runs with rows left. */
  private readonly reading = new Set<string>();
  private readonly purging = new Set<string>();
  /** Runs that have ended and have rollouts without rows. */
  private readonly indexing = new Set<string>();
  /** Rows wait to be taken into the index of their answers. */
  private indexingTexts = false;
  private readonly draining: {
    readonly run: string;
    readonly done: () => void;
    readonly failed: (error: unknown) => void;
  }[] = [];
  private scheduled = false;
  private announced: number;

  constructor(
    private readonly folder: string,
    private store: Store,
    private readonly post: (message: ThreadMessage) => void,
  ) {
    this.announced = store.queries.head();
  }

  /**
   * Where the database is damaged: sets it aside and begins another, which the logs fill again.
   * @returns the error to answer with
   */
  private recovered(error: unknown): unknown {
    if (!isDamage(error)) return error;
    this.store.abandon();
    const rebuilt = rebuilding(this.folder, setAside(this.folder), error);
    this.store = new Store(this.folder, { owned: true });
    this.announced = this.store.queries.head();
    for (const waiting of [this.reading, this.purging, this.indexing]) waiting.clear();
    this.indexingTexts = false;
    for (const { failed } of this.draining.splice(0)) failed(rebuilt);
    for (const { run } of this.store.scan()) this.read(run);
    this.post({ problem: rebuilt.message });
    this.post({ rebuilt: this.store.queries.head() });
    return rebuilt;
  }

  async answer({ id, name, parameters }: CallMessage): Promise<void> {
    try {
      if (name !== "close") await this.store.ready();
      this.post({ id, result: await this.calls(name, parameters) });
      this.announce();
    } catch (given) {
      const error = this.recovered(inWords(this.folder, given));
      const detail = error instanceof UserError ? error.detail : null;
      const { action, file, code } = detail ?? {};
      const plain = {
        ...(action === undefined ? {} : { action }),
        ...(file === undefined ? {} : { file }),
        ...(code === undefined ? {} : { code }),
      };
      this.post({ id, error: { message: messageOf(error), detail: detail === null ? null : plain } });
    }
  }

  private calls(name: CallName, parameters: readonly unknown[]): unknown {
    const { queries, ingest } = this.store;
    const own: OwnCalls = {
      scan: () => this.store.scan(),
      trashed: () => this.store.trashed(),
      register: (run, key) => void ingest.register(run, key),
      ingest: (run) => this.read(run),
      drain: (run) => this.drain(run),
      rollouts: (parameters) => this.rollouts(parameters),
      series: (parameters) => this.series(parameters),
      search: (parameters) => this.search(parameters),
      setStatus: (run, status, message, attempt) => {
        ingest.setStatus(run, status, message, attempt);
        this.read(run);
      },
      marked: (run) => ingest.marked(run),
      recordedStatus: (run) => ingest.recordedStatus(run),
      damage: (run) => queries.damage(run).at(-1) ?? null,
      forgetRun: (run) => this.forget(run),
      driver: () => this.store.driver,
      close: () => this.store.close(),
    };
    const method: unknown = name in own ? Reflect.get(own, name) : Reflect.get(queries, name);
    if (typeof method !== "function") throw new Error(`the store has no ${name}`);
    const result: unknown = Reflect.apply(method, name in own ? own : queries, [...parameters]);
    return result;
  }

  private read(run: string): void {
    this.reading.add(run);
    this.schedule();
  }

  /** Rows are made a step at a time, so that other questions are answered in between. */
  private async rollouts(
    parameters: Parameters<StoreCalls["rollouts"]>[0],
  ): Promise<ReturnType<StoreCalls["rollouts"]>> {
    // What cannot be read is named by the query itself.
    const lost = new LostSteps();
    while (this.store.ingest.rollouts.next(parameters.run, parameters, lost)) {
      await setImmediate();
      // The run's log may have been read meanwhile.
      await this.store.ready();
    }
    this.keepIndex();
    return this.store.queries.rollouts(parameters);
  }

  /** Rows have come: where somebody has searched, their answers are to be found. */
  private keepIndex(): void {
    if (!this.store.texts.exists()) return;
    this.indexingTexts = true;
    this.schedule();
  }

  /** A series may have a million points: other questions are answered while it is read. */
  private async series(
    parameters: Parameters<StoreCalls["series"]>[0],
  ): Promise<ReturnType<StoreCalls["series"]>> {
    const slices = this.store.queries.seriesInSlices(parameters);
    for (let began = performance.now(); ;) {
      const slice = slices.next();
      if (slice.done === true) return slice.value;
      if (performance.now() - began < longestSlice) continue;
      await setImmediate();
      began = performance.now();
    }
  }

  /** Rows and their index are made for a while; the question is answered with what is there, and the rest is made in idle time. */
  private async search(
    parameters: Parameters<StoreCalls["search"]>[0],
  ): Promise<ReturnType<StoreCalls["search"]>> {
    const { run, after } = parameters;
    const until = performance.now() + (after === undefined ? searchPatience : 0);
    const wanted = run === undefined ? this.store.queries.ownRuns() : [this.store.queries.existing(run)];
    const lost = new LostSteps();
    let unread = wanted.find((one) => this.store.ingest.rollouts.next(one, {}, lost));
    while (unread !== undefined && performance.now() < until) {
      await setImmediate();
      await this.store.ready();
      unread = wanted.find((one) => this.store.ingest.rollouts.next(one, {}, lost));
    }
    const indexes = this.store.texts.make();
    let more = indexes && this.store.texts.next();
    while (more && performance.now() < until) {
      await setImmediate();
      more = this.store.texts.next();
    }
    if (unread !== undefined) this.indexing.add(unread);
    this.indexingTexts ||= more || unread !== undefined;
    this.schedule();
    const slices = this.store.searches.search(parameters);
    for (;;) {
      const slice = slices.next();
      if (slice.done === true)
        return {
          ...slice.value,
          indexed: this.store.texts.progress(),
          complete: unread === undefined && !more,
        };
      await setImmediate();
    }
  }

  private drain(run: string): Promise<void> {
    this.read(run);
    return new Promise((done, failed) => this.draining.push({ run, done, failed }));
  }

  private forget(run: string): void {
    this.reading.delete(run);
    this.indexing.delete(run);
    this.store.forgetRun(run);
    this.purging.add(run);
    this.schedule();
  }

  private schedule(): void {
    if (this.scheduled) return;
    this.scheduled = true;
    immediately(() => {
      this.scheduled = false;
      this.slice();
    });
  }

  /** One slice of one run, then the next: a long log does not keep a short one waiting. */
  private slice(): void {
    this.attempt(
      "reading",
      () => this.next(),
      () => undefined,
    );
    if (this.reading.size > 0 || this.purging.size > 0 || this.indexing.size > 0 || this.indexingTexts)
      this.schedule();
  }

  private next(): void {
    const run = this.reading.values().next();
    if (run.done !== true)
      this.attempt(
        `reading the log of ${run.value}`,
        () => this.sliceOf(run.value),
        (error) => this.finished(run.value, error),
      );
    else this.tidy();
    this.announce();
  }

  /** What can wait while there is something to read. */
  private tidy(): void {
    const dead = this.purging.values().next();
    const ended = this.indexing.values().next();
    if (dead.done !== true) {
      const stop = (): unknown => this.purging.delete(dead.value);
      this.attempt("deleting", () => void (this.store.purge(dead.value) || stop()), stop);
    } else if (ended.done !== true) {
      const stop = (): unknown => this.indexing.delete(ended.value);
      this.attempt(
        `reading the rollouts of ${ended.value}`,
        () => {
          if (!this.store.ingest.rollouts.next(ended.value)) stop();
          this.keepIndex();
        },
        stop,
      );
    } else if (this.indexingTexts) {
      const stop = (): unknown => (this.indexingTexts = false);
      this.attempt("indexing answers", () => void (this.store.texts.next() || stop()), stop);
    }
  }

  private attempt(what: string, work: () => void, failed: (error: unknown) => void): void {
    try {
      work();
    } catch (given) {
      const error = inWords(this.folder, given);
      if (this.recovered(error) !== error) return;
      failed(error);
      this.post({ problem: `${what}: ${messageOf(error)}` });
    }
  }

  private sliceOf(run: string): void {
    this.reading.delete(run);
    if (this.store.ingest.slice(run)) this.reading.add(run);
    else this.finished(run);
  }

  /** Resolves or rejects everyone who waits for the run to be read. */
  private finished(run: string, error?: unknown): void {
    this.reading.delete(run);
    const summary = this.store.queries.summary(run);
    // What lies in another trainer's files is read when somebody asks.
    const own = summary !== null && summary.origin === undefined;
    if (error === undefined && own && isSettled(summary.status)) this.indexing.add(run);
    const waiting = this.draining.filter((item) => item.run === run);
    for (const item of waiting) {
      this.draining.splice(this.draining.indexOf(item), 1);
      if (error === undefined) item.done();
      else item.failed(error);
    }
  }

  private announce(): void {
    const head = this.store.queries.head();
    if (head === this.announced) return;
    this.announced = head;
    this.post({ changed: head });
  }
}

export interface ThreadData {
  readonly store: string;
}

/** An error that ends a thread reaches the other side as its message alone. */
function opened(folder: string, report: (problem: string) => void): Store {
  try {
    return whole(folder, report);
  } catch (error) {
    const action =
      error instanceof UserError ? ` ${error.detail.file ?? ""} ${error.detail.action ?? ""}` : "";
    throw new Error(`${messageOf(error)}${action}`, { cause: error });
  }
}

function whole(folder: string, report: (problem: string) => void): Store {
  try {
    return new Store(folder, { owned: true });
  } catch (error) {
    if (!isDamage(error)) throw error;
    report(rebuilding(folder, setAside(folder), error).message);
    return new Store(folder, { owned: true });
  }
}

if (parentPort !== null) {
  const port = parentPort;
  const { store }: ThreadData = workerData;
  const post = (message: ThreadMessage): void => port.postMessage(message);
  const thread = new StoreThread(
    store,
    opened(store, (problem) => post({ problem })),
    post,
  );
  port.on("message", (message: CallMessage) => {
    void thread.answer(message).then(() => {
      if (message.name === "close") port.close();
    });
  });
}
