/** The runs of a sweep next to each other: a row a combination of values, over its seeds, the best first. Pure. */
import { meanOrNull } from "../../../shared/lib/mean.ts";
import type { RunStatus } from "../../../shared/protocol/runStatus.ts";
import type { SweepChoice } from "../../config/sweep/trials.ts";
import { standardError } from "../simulate/statistics.ts";

export interface SweepRun {
  readonly run: string;
  readonly seed: number | null;
  readonly values: SweepChoice;
  readonly status: RunStatus;
  /** The sweep stopped it before its end. */
  readonly stopped: boolean;
  readonly steps: number;
  /** At its last evaluation; null: it has none. */
  readonly value: number | null;
}

export interface SweepRow {
  readonly values: SweepChoice;
  /** Over the runs that finished or were stopped early; null: there is none. */
  readonly mean: number | null;
  /** Standard error of that mean; null below two runs. */
  readonly error: number | null;
  readonly n: number;
  /** How many of these were stopped early. */
  readonly stopped: number;
  readonly runs: readonly SweepRun[];
}

/** @param better which way the metric gets better */
export function sweepRows(runs: readonly SweepRun[], better: "max" | "min"): readonly SweepRow[] {
  const groups = new Map<string, SweepRun[]>();
  for (const run of runs) {
    const key = JSON.stringify(run.values);
    groups.set(key, [...(groups.get(key) ?? []), run]);
  }
  const sign = better === "max" ? -1 : 1;
  const rank = ({ mean }: SweepRow): number => (mean === null ? Infinity : sign * mean);
  return [...groups.values()].map(rowOf).sort((a, b) => (rank(a) === rank(b) ? 0 : rank(a) - rank(b)));
}

/** A failed run's last evaluation was before it failed: to count it would praise what breaks. */
const counts = ({ status, stopped, value }: SweepRun): boolean =>
  value !== null && (status === "finished" || stopped);

function rowOf(runs: readonly SweepRun[]): SweepRow {
  const counted = runs.filter(counts);
  const values = counted.map(({ value }) => value ?? Number.NaN);
  return {
    values: runs[0]?.values ?? {},
    mean: meanOrNull(values),
    error: values.length < 2 ? null : standardError(values),
    n: values.length,
    stopped: counted.filter(({ stopped }) => stopped).length,
    runs: [...runs].sort((a, b) => (a.seed ?? 0) - (b.seed ?? 0)),
  };
}
