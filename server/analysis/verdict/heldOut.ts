/**
 * Whether held-out results differ from those before training: an interval of the difference of pass@1, paired by task,
 * that holds at every look together.
 */
import type { TaskResults } from "../../../shared/run/taskResults.ts";
import type { EvaluationRow } from "../../../shared/protocol/protocol.ts";
import { normalQuantile, shareDifference } from "../../../shared/lib/proportions.ts";
import { changeIn } from "./change.ts";
import { mean } from "../../../shared/lib/mean.ts";
import { passDifferences, solvedDifferences } from "../evaluation/taskResults.ts";

const pass = "eval/pass@1";
/** What is compared where no share of right answers was measured. */
const reward = "eval/reward/total";
/** A difference within this counts as none. */
export const negligible = 0.03;
/** Chance that some look of a run's is wrong: of pass@1, and of the tasks that are solved at all. */
const chance = 0.05;

/** Evaluations that a curve needs before its own scatter says what chance does. */
export const leastCurve = 5;

export interface Comparison {
  readonly step: number;
  /** What was measured: `eval/pass@1`, or the reward. */
  readonly measure: string;
  /** Evaluations at either end whose means these are, where no task is known one by one. */
  readonly over: number;
  readonly before: number;
  readonly after: number;
  /** Held-out tasks; null: the log does not say. */
  readonly tasks: number | null;
  readonly paired: boolean;
  /** Of the difference; null where it cannot be known. */
  readonly interval: { readonly low: number; readonly high: number } | null;
  /** Evaluations between which a curve went from one level to another; null: there is no curve, or it shows none. */
  readonly change: { readonly from: number; readonly to: number } | null;
  /** Of the difference of the share of tasks that any of several answers solves; null where tasks are not known one by one. */
  readonly solved: { readonly low: number; readonly high: number } | null;
}

/**
 * The k-th look at the data has a share 1/(k(k + 1)) of the chance of an error: over all looks that sums to 1, however many
 * there will be.
 */
export const zOf = (look: number, total: number = chance): number =>
  normalQuantile(total / (look * (look + 1)) / 2);

/**
 * Mean of the tasks' differences, each in [−1, 1], and its interval. One task more that gained all and one that lost all are
 * counted in the variance: without them, a few tasks that agree would seem certain.
 * Source: Agresti and Min, "Simple improved confidence intervals for comparing matched proportions".
 */
export function pairedInterval(
  differences: readonly number[],
  z: number,
): { readonly low: number; readonly high: number } {
  const n = differences.length;
  const mean = differences.reduce((sum, one) => sum + one, 0) / n;
  const squares = differences.reduce((sum, one) => sum + (one - mean) ** 2, 0) + 2;
  const half = z * Math.sqrt(squares / (n + 2) / (n + 2));
  return { low: mean - half, high: mean + half };
}

/**
 * @param look its number among the evaluations after the first, from 1
 * @param asked held-out tasks, where the config says
 * @param curve both and those between them, for a run of which no tasks are known
 */
export function compare(
  first: EvaluationRow,
  later: EvaluationRow,
  look: number,
  asked: number | null,
  curve: readonly EvaluationRow[] = [],
): Comparison | null {
  const measure = measureOf([first]);
  const [before, after] = [first.metrics[measure], later.metrics[measure]];
  if (before === undefined || after === undefined) return null;
  const z = zOf(look);
  const common = { step: later.step, measure, over: 1, before, after, change: null };
  const paired = measure === pass ? pairedBy(first.results, later.results, z) : null;
  if (paired !== null) return { ...common, paired: true, ...paired };
  if (asked !== null && measure === pass) {
    const interval = shareDifference(before, after, asked, z);
    return { ...common, tasks: asked, paired: false, interval, solved: null };
  }
  const known = curve.filter(({ metrics }) => metrics[measure] !== undefined);
  const values = known.map(({ metrics }) => metrics[measure]!);
  const change = values.length < leastCurve ? null : changeIn(values);
  return {
    ...common,
    tasks: null,
    paired: false,
    solved: null,
    change: change && { from: known[change.begin + 1]!.step, to: known[change.end]!.step },
    ...byCurve(values, z),
  };
}

/** The first that every evaluation has: a share of right answers before a reward. */
export const measureOf = (rows: readonly EvaluationRow[]): string =>
  rows.some(({ metrics }) => pass in metrics) ? pass : reward;

/** Whether it is the share of right answers, and no reward on a scale of its own. */
export const isShare = ({ measure }: Pick<Comparison, "measure">): boolean => measure === pass;

/**
 * The last third of a curve against its first. How far neighbours differ says what chance does between two evaluations of the
 * same tasks; a trend adds to it, so that the interval is rather too wide.
 * Source: von Neumann, "Distribution of the ratio of the mean square successive difference to the variance".
 */
function byCurve(
  values: readonly number[],
  z: number,
): Pick<Comparison, "interval"> & Partial<Pick<Comparison, "over" | "before" | "after">> {
  if (values.length < leastCurve) return { interval: null };
  const over = Math.max(1, Math.floor(values.length / 3));
  const [before, after] = [mean(values.slice(0, over)), mean(values.slice(-over))];
  const squares = values.slice(1).map((value, i) => (value - values[i]!) ** 2);
  // The mean square of neighbours' differences is twice the variance; so is that of the difference of two means of `over`.
  const half = studentOf(z, squares.length) * Math.sqrt(mean(squares) / over);
  return { over, before, after, interval: { low: after - before - half, high: after - before + half } };
}

/**
 * The quantile of Student's distribution where the normal one's is `z`.
 * Source: Abramowitz and Stegun, Handbook of Mathematical Functions, 26.7.5.
 */
function studentOf(z: number, freedom: number): number {
  const [third, fifth] = [z ** 3, z ** 5];
  return (
    z +
    (third + z) / (4 * freedom) +
    (5 * fifth + 16 * third + 3 * z) / (96 * freedom ** 2) +
    (3 * z ** 7 + 19 * fifth + 17 * third - 15 * z) / (384 * freedom ** 3)
  );
}

function pairedBy(
  first: TaskResults | undefined,
  later: TaskResults | undefined,
  z: number,
): Pick<Comparison, "tasks" | "interval" | "solved"> | null {
  if (first === undefined || later === undefined) return null;
  const differences = passDifferences(first, later);
  return differences.length < 2
    ? null
    : {
        tasks: differences.length,
        interval: pairedInterval(differences, z),
        solved: pairedInterval(solvedDifferences(first, later), z),
      };
}
