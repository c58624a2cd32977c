/** The table of a sweep's runs, of what the store has of them. Pure. */
import { isTrial, type SweepPlan } from "../../analysis/sweep/plan.ts";
import { sweepRows } from "../../analysis/sweep/table.ts";
import type { RecordedRun } from "./recorded.ts";
import type { SweepTable } from "./tableText.ts";

/** `trials`: where the file is there that plans them. */
export type KnownSweep = Pick<SweepPlan, "id" | "file" | "sweep" | "better"> &
  Partial<Pick<SweepPlan, "trials">>;

export function sweepTable(
  { id, file, sweep, better, trials = [] }: KnownSweep,
  recorded: readonly RecordedRun[],
): SweepTable {
  const missing = trials.filter(
    (trial) => !recorded.some(({ seed, tree }) => isTrial(trial, { seed: seed ?? undefined, tree })),
  );
  return {
    sweep: id,
    file,
    metric: sweep.metric,
    better,
    parameters: sweep.parameters.map(({ key }) => key),
    rows: sweepRows(
      recorded.map(({ run, seed, values, status, stopped, steps, value }) => ({
        ...{ run, seed, values, status, stopped, steps, value },
      })),
      better,
    ),
    missing: missing.map(({ seed, choice }) => ({ seed, values: choice })),
  };
}
