/** Which rows a pairwise loss compares, and the loss over pairs. */
import type { Pairing } from "../../../core/slots/objective.ts";
import { rowsOfGroups } from "../../../core/rows/batch.ts";
import type { Batch } from "../../../core/rollouts.ts";
import type { Weighed } from "../../../core/policy.ts";
import type { Objective, ObjectiveInput } from "../../../core/loss.ts";
import { anchorModels, rowScores, rowSums, spread, type Anchor, type RowSums } from "../rowLevel.ts";

/** Rows by pair: `better[k]` against `worse[k]`. */
export interface Pairs {
  readonly better: Int32Array;
  readonly worse: Int32Array;
}

/** Two rows in the order of their scores; rows of equal or no score form no pair unless `ties`. */
function ordered(a: number, b: number, scores: Float64Array, ties: boolean): [number, number][] {
  const [left, right] = [scores[a]!, scores[b]!];
  if (left > right || (ties && left === right)) return [[a, b]];
  return right > left ? [[b, a]] : [];
}

function recordedPairs({ rows, pair }: Batch, scores: Float64Array, ties: boolean): [number, number][] {
  const members = new Map<number, number[]>();
  for (let row = 0; row < rows; row++) {
    const number = pair?.[row] ?? -1;
    if (number >= 0) members.set(number, [...(members.get(number) ?? []), row]);
  }
  return [...members.values()].flatMap((list) => everyTwo(list, scores, ties));
}

const everyTwo = (rows: readonly number[], scores: Float64Array, ties: boolean): [number, number][] =>
  rows.flatMap((a, i) => rows.slice(i + 1).flatMap((b) => ordered(a, b, scores, ties)));

function extremes(rows: readonly number[], scores: Float64Array, ties: boolean): [number, number][] {
  const known = rows.filter((row) => !Number.isNaN(scores[row]!));
  if (known.length < 2) return [];
  const best = known.reduce((a, b) => (scores[b]! > scores[a]! ? b : a));
  const worst = known.filter((row) => row !== best).reduce((a, b) => (scores[b]! <= scores[a]! ? b : a));
  return ordered(best, worst, scores, ties);
}

/** The pairs of a batch. `ties`: rows of equal score are compared as well, in their order. */
export function pairsOf(input: ObjectiveInput, how: Pairing, ties = false): Pairs {
  const { batch } = input;
  const scores = rowScores(input);
  const recorded =
    how === "recorded" || (how === "auto" && batch.pair?.some((number) => number >= 0) === true);
  const pairs = recorded
    ? recordedPairs(batch, scores, ties)
    : rowsOfGroups(batch).flatMap((rows) =>
        how === "all" ? everyTwo(rows, scores, ties) : extremes(rows, scores, ties),
      );
  return { better: Int32Array.from(pairs, ([a]) => a), worse: Int32Array.from(pairs, ([, b]) => b) };
}

/** A mini-batch holds every partner: recorded pairs are units of their own, others come from whole groups. */
export const unitOf = (how: Pairing): "pair" | "group" => (how === "recorded" ? "pair" : "group");

/** Loss of one pair with its derivatives by the two rows' sums. */
export interface PairLoss {
  readonly loss: number;
  readonly better: number;
  readonly worse: number;
}

/** The mean over pairs. A batch without a pair has loss 0. */
export function overPairs(
  input: ObjectiveInput,
  { better, worse }: Pairs,
  sums: RowSums,
  of: (better: number, worse: number) => PairLoss,
): Weighed {
  const slopes = new Float64Array(input.batch.rows);
  let loss = 0;
  let ranked = 0;
  const share = better.length === 0 ? 0 : 1 / better.length;
  for (let k = 0; k < better.length; k++) {
    const [a, b] = [better[k]!, worse[k]!];
    const one = of(a, b);
    loss += share * one.loss;
    slopes[a]! += share * one.better;
    slopes[b]! += share * one.worse;
    if (sums.value[a]! > sums.value[b]!) ranked += 1;
  }
  return {
    loss,
    gradients: { logp: spread(slopes, sums, input) },
    metrics: {
      "update/pairs": better.length,
      ...(share === 0 ? {} : { "update/pair_accuracy": ranked * share }),
    },
  };
}

/** An objective over pairs. `each`: the loss of one, from the log-ratios of its two rows to the anchor. */
export const pairwise = (
  { anchor, pairs }: { readonly anchor: Anchor; readonly pairs: Pairing },
  each: (better: number, worse: number) => PairLoss,
  sumsOf = (input: ObjectiveInput): RowSums => rowSums(input, anchor),
): Objective => ({
  channels: ["logp"],
  unit: unitOf(pairs),
  models: anchorModels(anchor),
  loss(input) {
    const sums = sumsOf(input);
    const { value } = sums;
    return overPairs(input, pairsOf(input, pairs), sums, (a, b) => each(value[a]!, value[b]!));
  },
});
