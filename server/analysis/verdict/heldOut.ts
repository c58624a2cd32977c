/**
 * Whether held-out results differ from those before training: an interval of the difference of pass@1, paired by task,
 * that holds at every look together.
 */
import type { TaskResults } from "../../../shared/run/taskResults.ts";
import type { EvaluationRow } from "../../../shared/protocol/protocol.ts";
import { normalQuantile, shareDifference } from "../../../shared/lib/proportions.ts";
import { passDifferences, solvedDifferences } from "../evaluation/taskResults.ts";

const name = "eval/pass@1";
/** A difference within this counts as none. */
export const negligible = 0.03;
/** Chance that some look of a run's is wrong: of pass@1, and of the tasks that are solved at all. */
const chance = 0.05;

export interface Comparison {
  readonly step: number;
  readonly before: number;
  readonly after: number;
  /** Held-out tasks; null: the log does not say. */
  readonly tasks: number | null;
  readonly paired: boolean;
  /** Of the difference; null where it cannot be known. */
  readonly interval: { readonly low: number; readonly high: number } | null;
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

/** @param look its number among the evaluations after the first, from 1 @param asked held-out tasks, where the config says */
export function compare(
  first: EvaluationRow,
  later: EvaluationRow,
  look: number,
  asked: number | null,
): Comparison | null {
  const [before, after] = [first.metrics[name], later.metrics[name]];
  if (before === undefined || after === undefined) return null;
  const z = zOf(look);
  const common = { step: later.step, before, after };
  const paired = pairedBy(first.results, later.results, z);
  if (paired !== null) return { ...common, paired: true, ...paired };
  return {
    ...common,
    tasks: asked,
    paired: false,
    interval: asked === null ? null : shareDifference(before, after, asked, z),
    solved: null,
  };
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
