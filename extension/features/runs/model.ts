/**
 * What this window knows of a store's runs, kept up by the daemon's feed: pure. Every view of it says the same step at
 * the same time: steps come in beats, everything else at once.
 */
import type { Change, RunSummary } from "../../../shared/protocol/protocol.ts";
import { isLive, isSettled } from "../../../shared/protocol/runStatus.ts";
import { alarmOf, type VerdictState } from "../../../shared/run/verdict.ts";
import { Emitter } from "../connection/emitter.ts";

interface Beat {
  /** Milliseconds in which steps are reported once; 0: each at once. */
  readonly milliseconds: number;
  readonly after?: (milliseconds: number, act: () => void) => void;
  readonly now?: () => number;
}

/** Its log is not read to the end yet, so what became of it is not known. */
export const isReading = ({ status }: RunSummary): boolean => status === "reading";

/** A run that ended before this window saw it live did not end just now; clocks that differ by less are the same. */
const clockSlack = 1_000;

interface RunsChange {
  /** Runs that changed; undefined: all of them. */
  readonly runs: ReadonlySet<string> | undefined;
}

export class RunsModel {
  readonly changed = new Emitter<RunsChange>();
  readonly ended = new Emitter<RunSummary>();
  /** An alarm was raised on a live run; each once. */
  readonly alarmed = new Emitter<RunSummary>();
  #runs = new Map<string, RunSummary>();
  /** Steps that wait for the next beat. */
  readonly #waiting = new Map<string, RunSummary>();
  /** When a run was first seen live. */
  readonly #since = new Map<string, number>();
  /** Alarms that were raised, by run. */
  readonly #alarms = new Map<string, Set<VerdictState>>();
  #resting = false;
  #loaded = false;

  constructor(private readonly beat: Beat = { milliseconds: 0 }) {}

  get loaded(): boolean {
    return this.#loaded;
  }
  /** Runs whose logs are not read yet, and how many there are in all. */
  get reading(): { readonly left: number; readonly all: number } {
    const runs = [...this.#runs.values()];
    return { left: runs.filter(isReading).length, all: runs.length };
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
    this.#runs = new Map(runs.map((run) => [run.id, run]));
    this.#waiting.clear();
    for (const run of runs) this.#see(run);
    const known = this.#loaded;
    this.#loaded = true;
    this.changed.fire({ runs: undefined });
    for (const run of runs) {
      // What was wrong when this window first looked, its views say; what happened while the connection was down was unseen too.
      const raised = this.#raises(run);
      if (known && raised) this.alarmed.fire(run);
      if (known) this.#noteEnd(run);
    }
  }

  /** Takes what a list of another kind says of runs that are too old to be known. */
  learn(runs: readonly RunSummary[]): void {
    for (const run of runs) {
      if (this.#runs.has(run.id)) continue;
      this.#take(run);
      this.#raises(run);
    }
  }

  clear(): void {
    this.#runs.clear();
    this.#waiting.clear();
    this.#loaded = false;
    this.changed.fire({ runs: undefined });
  }

  apply(changes: readonly Change[]): void {
    const touched = new Set<string>();
    const ended: RunSummary[] = [];
    for (const change of changes) {
      const before = this.#runs.get(change.run);
      if (change.kind === "deleted") {
        this.#runs.delete(change.run);
        this.#waiting.delete(change.run);
        this.#since.delete(change.run);
        this.#alarms.delete(change.run);
        touched.add(change.run);
      } else if (change.summary !== null) {
        const { summary } = change;
        if (this.#resting && before !== undefined && onlyStepped(before, summary)) {
          this.#waiting.set(change.run, summary);
          continue;
        }
        ended.push(summary);
        this.#take(summary);
        touched.add(change.run);
      }
    }
    this.#notify(touched);
    for (const run of ended) this.#noteEnd(run);
  }

  #take(summary: RunSummary): void {
    this.#waiting.delete(summary.id);
    this.#runs.set(summary.id, summary);
    this.#see(summary);
  }

  #notify(touched: ReadonlySet<string>): void {
    if (touched.size === 0) return;
    this.changed.fire({ runs: touched });
    for (const id of touched) {
      const run = this.#runs.get(id);
      if (run !== undefined && this.#raises(run)) this.alarmed.fire(run);
    }
    this.#rest();
  }

  #rest(): void {
    const { milliseconds, after = (wait, act) => void setTimeout(act, wait) } = this.beat;
    if (this.#resting || milliseconds <= 0) return;
    this.#resting = true;
    after(milliseconds, () => {
      this.#resting = false;
      const waiting = [...this.#waiting.values()];
      for (const summary of waiting) this.#take(summary);
      this.#notify(new Set(waiting.map(({ id }) => id)));
    });
  }

  #see(run: RunSummary): void {
    if (isLive(run.status) && !this.#since.has(run.id))
      this.#since.set(run.id, (this.beat.now ?? Date.now)());
  }

  /** Whether a live run has an alarm that it has not had before. The step at which it began may still move. */
  #raises(run: RunSummary): boolean {
    const state = alarmOf(run)?.state;
    if (state === undefined || !isLive(run.status)) return false;
    const known = this.#alarms.get(run.id) ?? new Set();
    if (known.has(state)) return false;
    this.#alarms.set(run.id, known.add(state));
    return true;
  }

  /** Reported once, and only if this window saw the run live: a log that is read late contains ends of long ago. */
  #noteEnd(run: RunSummary): void {
    const since = this.#since.get(run.id);
    if (since === undefined || !isSettled(run.status)) return;
    this.#since.delete(run.id);
    const at = run.endedAt === null ? Number.NaN : Date.parse(run.endedAt);
    if (!(at < since - clockSlack)) this.ended.fire(run);
  }
}

const moved: ReadonlySet<string> = new Set(["step", "headline", "first", "last", "verdict", "spark"]);
const besides = (run: RunSummary): string =>
  JSON.stringify(run, (key, value: unknown) => (moved.has(key) ? undefined : value));

/** A change of anything but what each step moves is shown at once: also what a person marks or writes. */
const onlyStepped = (before: RunSummary, after: RunSummary): boolean => besides(before) === besides(after);
