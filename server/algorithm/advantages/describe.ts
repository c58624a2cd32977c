/** The metrics of a step that follow from its rewards and advantages. */
import type { Batch, Group } from "../../core/rollouts.ts";
import { status } from "../../core/reward.ts";
import { lengthOfAll, lengthOfRow } from "../../core/rows/batch.ts";
import { columnOfAdvantages } from "./advantageColumns.ts";
import type { Advantages } from "./tokenAdvantages.ts";
import { describeComponents } from "../rewards/components.ts";
import { describeCriteria } from "../rewards/criteria.ts";
import { rowValue, type Scores } from "../rewards/rewards.ts";
import { columnsInStretches, countsOf, type TokenColumn } from "./tokenColumn.ts";
import { mean } from "../../../shared/lib/mean.ts";
import { quantile } from "../../../shared/lib/quantile.ts";

/** The metrics that follow from rewards and advantages. @param trained the rows of the batch that train */
export const describeStep = (
  batch: Batch,
  scored: Scores,
  trained: TrainedRows,
  groups: readonly Group[],
): Record<string, number> => ({
  // A criterion may be called `errors` or `weight`: these names are the term's own.
  ...describeCriteria(scored.rewards.terms, batch),
  ...describeComponents(scored.rewards.terms),
  ...describeRewards(scored),
  ...describeAdvantages(trained),
  ...describeGroups(groups),
  ...describeRollouts(batch),
});

function deviation(values: readonly number[]): number {
  const middle = mean(values);
  return Math.sqrt(values.reduce((sum, value) => sum + (value - middle) ** 2, 0) / (values.length - 1));
}

/**
 * `reward/…`: means over the rows that have a value, and over how many that is. A term that has none gives no mean; the
 * weight that acts in this step it gives always.
 */
export function describeRewards({ rewards, combined }: Scores): Record<string, number> {
  const totals = [...combined.total].filter(
    (total, row) => combined.errored[row] === 0 && !Number.isNaN(total),
  );
  const metrics: Record<string, number> = {
    "rollout/count": combined.total.length,
    "rollout/scored": totals.length,
  };
  if (totals.length > 0) metrics["reward/total"] = mean(totals);
  if (totals.length > 1) {
    metrics["reward/total/std"] = deviation(totals);
    const sorted = Float64Array.from(totals).sort();
    metrics["reward/total/p10"] = quantile(sorted, 0.1);
    metrics["reward/total/p90"] = quantile(sorted, 0.9);
    metrics["reward/total/min"] = totals.reduce((least, total) => Math.min(least, total));
    metrics["reward/total/max"] = totals.reduce((most, total) => Math.max(most, total));
  }
  for (const [i, term] of rewards.terms.entries()) {
    metrics[`reward/${term.name}/weight`] = rewards.weights[i]!;
    const rows = [...term.status.keys()];
    const values = rows.filter((row) => term.status[row] === status.value).map((row) => rowValue(term, row));
    if (values.length > 0) metrics[`reward/${term.name}`] = mean(values);
    metrics[`reward/${term.name}/errors`] = rows.filter((row) => term.status[row] === status.error).length;
  }
  return metrics;
}

/** `groups/…`: shares of the groups in which at least one rollout has a reward. */
export function describeGroups(groups: readonly Group[]): Record<string, number> {
  const scored = groups.filter(({ rewards }) => rewards.length > 0);
  if (scored.length === 0) return {};
  const share = (wanted: (group: Group) => boolean): number => scored.filter(wanted).length / scored.length;
  return {
    "groups/all_right": share(({ successes, rewards }) => successes === rewards.length),
    "groups/mixed": share(({ successes, rewards }) => successes > 0 && successes < rewards.length),
    "groups/all_wrong": share(({ successes }) => successes === 0),
    "groups/zero_advantage": share(({ advantages }) => advantages.every((value) => value === 0)),
    ...describeSuccesses(scored),
  };
}

/**
 * `groups/success_rate`, and `rollout/unearned`: the share of successes whose response succeeds on a task with another
 * answer, too. A reward that reads the answer gives none; one that can be satisfied without it gives many.
 */
function describeSuccesses(groups: readonly Group[]): Record<string, number> {
  const rollouts = groups.reduce((sum, { rewards }) => sum + rewards.length, 0);
  const right = groups.reduce((sum, { successes }) => sum + successes, 0);
  const rate = { "groups/success_rate": right / rollouts };
  if (right === 0 || groups.some(({ answers }) => answers === undefined)) return rate;
  const asked = new Map<string, Set<string>>();
  const successes = groups.flatMap(({ task, answers = [] }) =>
    answers
      .filter((answer) => answer.right)
      .map(({ response }) => ({ response, asks: task.answer ?? task.id })),
  );
  for (const { response, asks } of successes) {
    const all = asked.get(response);
    if (all === undefined) asked.set(response, new Set([asks]));
    else all.add(asks);
  }
  const unearned = successes.filter(({ response }) => asked.get(response)!.size > 1).length;
  return { ...rate, "rollout/unearned": unearned / right };
}

/** What trains, and what it trains with: columns over the same batch. */
export interface TrainedRows {
  readonly batch: Batch;
  readonly advantages: Advantages;
  readonly weights: TokenColumn;
}

function describeAdvantages({ batch, advantages, weights }: TrainedRows): Record<string, number> {
  const count = countsOf(weights, batch).reduce((sum, one) => sum + one, 0);
  if (count === 0) return {};
  let sum = 0;
  for (const { values } of columnsInStretches(batch, columnOfAdvantages(advantages), weights))
    sum += sizes(values[0]!, values[1]!);
  return { "advantage/mean_abs": sum / count };
}

/** Σ |value| where the weight is not 0. */
function sizes(values: Float64Array, weights: Float64Array): number {
  let sum = 0;
  for (let i = 0; i < values.length; i++) if (weights[i] !== 0) sum += Math.abs(values[i]!);
  return sum;
}

/** `rollout/…`: how long the step's responses are, and how many were cut. */
export function describeRollouts(batch: Batch): Record<string, number> {
  const { records, rows } = batch;
  if (rows === 0) return {};
  const known = records.filter(({ finish }) => finish !== "error");
  return {
    "rollout/length": lengthOfAll(batch) / rows,
    ...lengthPercentiles(batch),
    ...(known.length === 0
      ? {}
      : { "rollout/truncated": known.filter(({ finish }) => finish === "length").length / known.length }),
  };
}

function lengthPercentiles(batch: Batch): Record<string, number> {
  if (batch.rows < 2) return {};
  const sorted = Float64Array.from({ length: batch.rows }, (_, row) => lengthOfRow(batch, row)).sort();
  return {
    "rollout/length/p10": quantile(sorted, 0.1),
    "rollout/length/p50": quantile(sorted, 0.5),
    "rollout/length/p90": quantile(sorted, 0.9),
  };
}

/** k3 divergence of the sampler's log-probs from the trainer's over trained tokens. */
export function describeMismatch(
  sampled: Float64Array,
  trainer: Float64Array,
  weights: Float64Array,
): Record<string, number> {
  let sum = 0;
  let count = 0;
  for (let i = 0; i < weights.length; i++) {
    if (weights[i] === 0 || Number.isNaN(sampled[i]!)) continue;
    const gap = trainer[i]! - sampled[i]!;
    sum += Math.expm1(gap) - gap;
    count += 1;
  }
  return count === 0 ? {} : { "mismatch/k3": sum / count };
}
