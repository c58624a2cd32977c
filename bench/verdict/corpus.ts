/** Runs as they are kept for the verdict: what it reads of each, and fifty rollouts. One gzip member a run, appended. */
import { appendFileSync, existsSync, readFileSync } from "node:fs";
import { gunzipSync, gzipSync } from "node:zlib";
import type { VerdictRecord } from "../../server/analysis/verdict/record.ts";
import type { RolloutRow } from "../../shared/rollouts/rollouts.ts";
import type { Recipe } from "./recipes.ts";

export type SetName = "calibration" | "judging";
export interface KeptRun {
  readonly id: string;
  readonly recipe: string;
  readonly seed: number;
  readonly failing: Recipe["failing"];
  readonly through: "verl" | null;
  readonly record: VerdictRecord;
  readonly rollouts: readonly RolloutRow[];
}

const path = (set: SetName): string => `bench/verdict/${set}.jsonl.gz`;

/** Five digits are more than a rule reads. */
const brief = (value: number): number | string =>
  Number.isFinite(value) ? Number(value.toPrecision(5)) : String(value);
const wide = (value: number | string): number => (typeof value === "number" ? value : Number(value));

/** @param folder where it was made: nothing of a machine is kept */
export function keep(set: SetName, run: KeptRun, folder: string): void {
  const series = Object.entries(run.record.series).map(([name, { steps, values }]) => [
    name,
    { steps: Array.from(steps), values: Array.from(values, brief) },
  ]);
  const kept = { ...run, record: { ...run.record, series: Object.fromEntries(series) } };
  appendFileSync(path(set), gzipSync(`${JSON.stringify(kept).replaceAll(folder, ".")}\n`, { level: 9 }));
}

interface Kept extends Omit<KeptRun, "record"> {
  readonly record: Omit<VerdictRecord, "series"> & {
    readonly series: Readonly<
      Record<string, { steps: readonly number[]; values: readonly (number | string)[] }>
    >;
  };
}

export function keptRuns(set: SetName): readonly KeptRun[] {
  if (!existsSync(path(set))) return [];
  const lines = gunzipSync(readFileSync(path(set)))
    .toString()
    .trimEnd()
    .split("\n");
  return lines.map((line) => {
    const kept = JSON.parse(line) as Kept;
    const series = Object.entries(kept.record.series).map(([name, { steps, values }]) => [
      name,
      { steps: Float64Array.from(steps), values: Float64Array.from(values, wide) },
    ]);
    return { ...kept, record: { ...kept.record, series: Object.fromEntries(series) } };
  });
}
