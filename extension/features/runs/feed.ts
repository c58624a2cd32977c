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

export class RunFeed {
  /** Every change, in order, each once. */
  readonly changes = new Emitter<readonly Change[]>();
  /** What came before is void: ask again. */
  readonly restarted = new Emitter<void>();
  #instance = "";
  #cursor: number | undefined;
  #stop: () => void = () => undefined;

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
      const { runs } = await session.ask(runsList, {});
      this.#cursor = answer.cursor;
      this.runs.replace(runs);
      this.restarted.fire();
    } else this.#take(answer.cursor, answer.changes);
    settled = true;
    for (const batch of early) this.#take(batch.cursor, batch.changes);
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
