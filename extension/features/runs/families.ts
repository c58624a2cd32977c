/** The runs of a store by config, forks under the run that they come from. Pure. */
import { plural } from "../../../shared/lib/format.ts";
import type { RunSummary } from "../../../shared/protocol/protocol.ts";
import { isLive } from "../../../shared/protocol/runStatus.ts";
import { isWatched } from "../../../shared/run/origin.ts";
import { placeOf, trainedText } from "../../../shared/run/origin.ts";

/** What the daemon says of the runs of a store, besides each run's summary. */
export interface Listing {
  /** In their order, where a filter or a sort is on; undefined: all runs, the newest first. */
  readonly ids: readonly string[] | undefined;
  /** Courses of reward/total, by run. */
  readonly sparks: ReadonlyMap<string, readonly number[]>;
  /** Whether archived runs are shown like any other. */
  readonly archived: boolean;
}

/** Runs of one config. */
export interface Family {
  readonly key: string;
  readonly name: string;
  readonly runs: readonly RunSummary[];
  /** With their forks. */
  readonly all: readonly RunSummary[];
}

/** What Gradus itself has started is its config's, wherever it trains. */
const keyOf = ({ origin, file }: RunSummary): string =>
  origin === undefined || trainedText(origin.site) !== undefined ? file : placeOf(origin);

/** Runs that are shown, pinned ones first, in the listing's order. */
export function shownRuns(runs: readonly RunSummary[], { ids, archived }: Listing): readonly RunSummary[] {
  const known = new Map(runs.map((run) => [run.id, run]));
  const listed = ids === undefined ? runs : ids.flatMap((id) => known.get(id) ?? []);
  const shown = archived ? listed : listed.filter((run) => run.archived !== true);
  return [...shown.filter(({ pinned }) => pinned === true), ...shown.filter(({ pinned }) => pinned !== true)];
}

/** Runs that are not under another: one whose parent is not shown is a run like any other. */
export function families(shown: readonly RunSummary[]): readonly Family[] {
  const ids = new Set(shown.map(({ id }) => id));
  const found = new Map<string, RunSummary[]>();
  for (const run of shown) {
    if (run.parent !== undefined && ids.has(run.parent.run)) continue;
    const key = keyOf(run);
    found.set(key, [...(found.get(key) ?? []), run]);
  }
  return [...found].map(([key, runs]) => ({
    key,
    name: runs[0]!.name,
    runs,
    all: shown.filter((run) => keyOf(run) === key),
  }));
}

/** Forks of a run, in the order of the list. */
export const forksOf = (shown: readonly RunSummary[], id: string): readonly RunSummary[] =>
  shown.filter(({ parent }) => parent?.run === id);

/** "12 runs, 2 live, 1 watched". */
export function familyText({ all: runs }: Family): string {
  const watched = runs.filter(isWatched).length;
  const live = runs.filter(({ status }) => isLive(status)).length - watched;
  return `${plural(runs.length, "run")}${live === 0 ? "" : `, ${live} live`}${watched === 0 ? "" : `, ${watched} watched`}`;
}
