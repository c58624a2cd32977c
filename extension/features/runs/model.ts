/** What this window knows of a store's runs, kept up by the daemon's feed: pure. */
import type { Change, RunSummary } from "../../../shared/protocol.ts";
import { isLive, isSettled } from "../../../shared/runStatus.ts";
import { Emitter } from "../connection/emitter.ts";

export interface RunsChange {
  /** Runs that changed; undefined: all of them. */
  readonly runs: ReadonlySet<string> | undefined;
}

export class RunsModel {
  readonly changed = new Emitter<RunsChange>();
  readonly ended = new Emitter<RunSummary>();
  #runs = new Map<string, RunSummary>();
  #loaded = false;
  /** Runs that were seen live: their end is news, that of one which is only read now is not. */
  readonly #wereLive = new Set<string>();

  get loaded(): boolean {
    return this.#loaded;
  }
  /** Newest first, live ones before the rest. */
  get all(): readonly RunSummary[] {
    const rank = (run: RunSummary): number => (isLive(run.status) ? 0 : 1);
    return [...this.#runs.values()].sort(
      (a, b) => rank(a) - rank(b) || b.startedAt.localeCompare(a.startedAt),
    );
  }
  get live(): readonly RunSummary[] {
    return this.all.filter((run) => isLive(run.status));
  }
  find(id: string): RunSummary | undefined {
    return this.#runs.get(id);
  }
  /** The newest run of a config file. */
  lastOf(file: string): RunSummary | undefined {
    return this.all
      .filter((run) => run.file === file)
      .sort((a, b) => b.startedAt.localeCompare(a.startedAt))[0];
  }

  replace(runs: readonly RunSummary[]): void {
    const before = this.#runs;
    this.#runs = new Map(runs.map((run) => [run.id, run]));
    const known = this.#loaded;
    this.#loaded = true;
    this.changed.fire({ runs: undefined });
    // What ended while the connection was down ended unseen all the same.
    if (known) for (const run of runs) this.#noteEnd(before.get(run.id), run);
  }

  clear(): void {
    this.#runs.clear();
    this.#loaded = false;
    this.changed.fire({ runs: undefined });
  }

  apply(changes: readonly Change[]): void {
    const touched = new Set<string>();
    const ended: [RunSummary | undefined, RunSummary][] = [];
    for (const change of changes) {
      touched.add(change.run);
      if (change.kind === "deleted") this.#runs.delete(change.run);
      else if (change.summary !== null) {
        ended.push([this.#runs.get(change.run), change.summary]);
        this.#runs.set(change.run, change.summary);
      }
    }
    if (touched.size > 0) this.changed.fire({ runs: touched });
    for (const [before, after] of ended) this.#noteEnd(before, after);
  }

  #noteEnd(before: RunSummary | undefined, after: RunSummary): void {
    if (before !== undefined && isLive(before.status)) this.#wereLive.add(after.id);
    if (isSettled(after.status) && this.#wereLive.delete(after.id)) this.ended.fire(after);
  }
}
