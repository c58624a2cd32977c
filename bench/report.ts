/** What a benchmark found, as lines for a person and, for `scripts/bench.mjs`, as a row of its table. */
import { appendFileSync } from "node:fs";

export interface Measure {
  readonly what: string;
  readonly value: number;
  readonly unit: string;
  /** Largest value that is good enough (`least`: smallest). */
  readonly goal?: number;
  readonly least?: boolean;
  /** The setting it was measured in. */
  readonly setting?: string;
}

const keep = (row: object): void => {
  const file = process.env["GRADUS_BENCH_RESULTS"];
  if (file !== undefined) appendFileSync(file, `${JSON.stringify(row)}\n`);
};

export function measured(measure: Measure): void {
  keep({ kind: "measured", ...measure });
  const { what, value, unit, goal, least = false, setting } = measure;
  const wanted = goal === undefined ? "" : ` (goal: ${least ? "at least" : "under"} ${goal} ${unit})`;
  console.log(
    `${what}: ${Number(value.toPrecision(4))} ${unit}${wanted}${setting === undefined ? "" : `; ${setting}`}`,
  );
}

/** Said aloud and in the table: a benchmark that could not run is not one that passed. */
export function skipped(what: string, reason: string): void {
  keep({ kind: "skipped", what, reason });
  console.log(`${what}: skipped: ${reason}`);
}

/** `--steps=200` on the benchmark's command line. */
export function option(name: string, otherwise: number): number {
  const given = process.argv.find((word) => word.startsWith(`--${name}=`))?.slice(name.length + 3);
  if (given === undefined) return otherwise;
  const value = Number(given);
  if (given === "" || !Number.isFinite(value)) {
    console.error(`--${name} takes a number, not "${given}"`);
    process.exit(2);
  }
  return value;
}

/** The value below which a share of the values lies: 0.5 is the median. */
export function quantile(values: readonly number[], share: number): number {
  const sorted = [...values].sort((a, b) => a - b);
  const value = sorted[Math.min(sorted.length - 1, Math.max(0, Math.ceil(share * sorted.length) - 1))];
  if (value === undefined) throw new Error("no values were measured");
  return value;
}
export const median = (values: readonly number[]): number => quantile(values, 0.5);
