/**
 * Follows a store: subscribe from the last cursor, and ask for everything again where the daemon no longer knows what
 * lies between. The cursor belongs to a daemon's instance; another instance starts over. Pure but for its session.
 */
import { runsList, subscribe, type Change, type HelloResult } from "../../../shared/protocol/protocol.ts";
import type { Asker } from "../connection/asker.ts";
import { Emitter } from "../connection/emitter.ts";
import type { RunsModel } from "./model.ts";

/** What of a session the feed needs. */
export interface FeedSession extends Asker {
  readonly link: { readonly hello: Pick<HelloResult, "instance"> };
  readonly changes: Emitter<{ readonly cursor: number; readonly changes: readonly Change[] }>;
}

/** Runs that are listed at once: the newest, and as many more each time that a person asks. */
export const runsPage = 200;

export class RunFeed {
  /** Every change, in order, each once. */
  readonly changes = new Emitter<readonly Change[]>();
  /** What came before is void: ask again. */
  readonly restarted = new Emitter<void>();
  #instance = "";
  #cursor: number | undefined;
  #stop: () => void = () => undefined;
  #most = runsPage;
  #complete = true;

  constructor(private readonly runs: RunsModel) {}

  async follow(session: FeedSession): Promise<void> {
    this.#stop();
    const { instance } = session.link.hello;
    if (instance !== this.#instance) this.#cursor = undefined;
    this.#instance = instance;
    // Listening begins before subscribing: what arrives while the answer is on its way waits for it.
    const early: { cursor: number; changes: readonly Change[] }[] = [];
    let settled = false;
    this.#stop = session.changes.on((batch) => {
      if (settled) this.#take(batch.cursor, batch.changes);
      else early.push(batch);
    });
    const since = this.#cursor;
    const answer = await session.ask(subscribe, since === undefined ? {} : { since });
    if (since === undefined || answer.restart) {
      await this.list(session, () => (this.#cursor = answer.cursor));
      this.restarted.fire();
    } else this.#take(answer.cursor, answer.changes);
    settled = true;
    for (const batch of early) this.#take(batch.cursor, batch.changes);
  }

  /** Whether there are no older runs than those that are listed. */
  get complete(): boolean {
    return this.#complete;
  }
  /** Runs that are listed at most. */
  get most(): number {
    return this.#most;
  }

  /** Lists the runs again. @param listed they are there, but no one has heard of it yet */
  async list(source: Asker, listed: () => void = () => undefined): Promise<void> {
    const { runs } = await source.ask(runsList, { limit: this.#most + 1 });
    this.#complete = runs.length <= this.#most;
    listed();
    this.runs.replace(runs.slice(0, this.#most));
  }

  more(source: Asker): Promise<void> {
    this.#most += runsPage;
    return this.list(source);
  }

  #take(cursor: number, changes: readonly Change[]): void {
    const fresh =
      this.#cursor === undefined ? changes : changes.filter((change) => change.cursor > this.#cursor!);
    this.#cursor = Math.max(this.#cursor ?? cursor, cursor);
    if (fresh.length === 0) return;
    this.runs.apply(fresh);
    this.changes.fire(fresh);
  }
}
