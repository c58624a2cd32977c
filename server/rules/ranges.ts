/** What rewards and metrics can come to, as far as the config alone tells. */
import { metricNamed } from "../../shared/metrics/metrics.ts";
import type { Scheduled } from "../core/schedule.ts";
import { perObject } from "../lib/perObject.ts";
import { episodeTokens } from "../core/config/shapeFacts.ts";
import type { RewardTermConfig, StageBody } from "../core/config/resolved.ts";

export type ValueRange = readonly [least: number, most: number];

/** Of a term of one rollout, or of the attempt that counts, before its weight; undefined for a function of one's own. */
export function termRange({ term, attempts }: RewardTermConfig): ValueRange | undefined {
  const range = term.declaration.range?.(term.params);
  return attempts === "sum" ? undefined : range;
}

/** Of a number over all the steps of its schedule. */
export const scheduledRange = (value: Scheduled): ValueRange =>
  typeof value === "number"
    ? [value, value]
    : [Math.min(value.from, value.to), Math.max(value.from, value.to)];

/** Of a term times its weight. */
export const rewardRange = perObject((term: RewardTermConfig): ValueRange | undefined => {
  // Every attempt is scored, and how many there are depends on the rollouts.
  const value = term.attempts === "each" ? undefined : termRange(term);
  const weight = scheduledRange(term.weight);
  if (value === undefined) return undefined;
  const corners = value.flatMap((v) => weight.map((w) => v * w));
  return [Math.min(...corners), Math.max(...corners)];
});

export const appliesTo = (term: RewardTermConfig, task: string): boolean =>
  term.tasks === undefined || term.tasks.includes(task);

/** Of the combined reward, over the stage's tasks; undefined where a term or the combiner does not tell. */
function totalRange({ tasks, reward }: StageBody): ValueRange | undefined {
  if (reward.combine.declaration.name !== "sum") return undefined;
  const perTask = tasks.flatMap(({ name }) => {
    const terms = reward.terms.filter((term) => appliesTo(term, name));
    return terms.length === 0 ? [] : [terms.map(rewardRange)];
  });
  const sums: ValueRange[] = [];
  for (const ranges of perTask) {
    const known = ranges.filter((range) => range !== undefined);
    if (known.length < ranges.length) return undefined;
    sums.push(known.reduce<ValueRange>(([low, high], range) => [low + range[0], high + range[1]], [0, 0]));
  }
  if (sums.length === 0) return undefined;
  return [Math.min(...sums.map(([low]) => low)), Math.max(...sums.map(([, high]) => high))];
}

/** Of a metric of a stage; undefined where it has no bounds that the config tells. */
export function metricRange(metric: string, body: StageBody): ValueRange | undefined {
  const reward = /^(?:eval\/)?reward\/(.+)$/.exec(metric)?.[1];
  if (reward === "total") return totalRange(body);
  const term = body.reward.terms.find(({ name }) => name === reward);
  if (term !== undefined) return term.attempts === "each" ? undefined : termRange(term);
  if (metric === "rollout/length") return [0, episodeTokens(body.rollout)];
  return metricNamed(metric)?.range;
}
