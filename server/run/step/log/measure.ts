/** The metrics of a step, named as in shared/metrics/metrics.ts. */
import { describeStep } from "../../../algorithm/advantages/describe.ts";
import { columnsInStretches } from "../../../algorithm/advantages/tokenColumn.ts";
import type { Group } from "../../../core/rollouts.ts";
import type { UpdateStats } from "../../../core/policy.ts";
import { measureCurriculum } from "../../../algorithm/curriculum/measureCurriculum.ts";
import { lengthOfAll } from "../../../core/rows/batch.ts";
import { planMemory } from "../../../analysis/memory/estimate.ts";
import type { Selected, StepContext, StepAdvantages } from "../context.ts";
import { measureBranching } from "./measureBranching.ts";
import { measureEpisodes } from "./measureEpisodes.ts";
import { measureGuidance } from "./measureGuidance.ts";
import type { Session } from "../../loop/session.ts";
import { mean } from "../../../../shared/lib/mean.ts";

/** Of several updates the extreme counts where a metric is one, else their mean. */
const over = (name: string): ((values: readonly number[]) => number) =>
  name.endsWith("_max")
    ? (values) => Math.max(...values)
    : name.endsWith("_min")
      ? (values) => Math.min(...values)
      : mean;

/** Means over the step's updates, extremes of extremes; the last learning rate. */
export function measureUpdates(updates: readonly UpdateStats[]): Record<string, number> {
  const last = updates.at(-1);
  if (last === undefined) return { "tokens/trained": 0 };
  // Whether a step was skipped shows in its gradient norm: it is no metric of its own.
  const names = new Set(
    updates.flatMap((update) => Object.keys(update.metrics)).filter((name) => name !== "update/skipped"),
  );
  const own = [...names].map((name): [string, number] => {
    const values = updates.map((update) => update.metrics[name]).filter((value) => value !== undefined);
    return [name, over(name)(values)];
  });
  return {
    ...Object.fromEntries(own),
    "update/loss": mean(updates.map((update) => update.loss)),
    "update/grad_norm": mean(updates.map((update) => update.grad_norm)),
    "update/lr": last.lr,
    "tokens/trained": updates.reduce((sum, update) => sum + update.tokens, 0),
  };
}

/** Mean over the tokens where a value exists. */
export function meanOf(column: Float64Array | undefined): number | undefined {
  if (column === undefined) return undefined;
  let [sum, count] = [0, 0];
  for (const value of column) {
    if (Number.isNaN(value)) continue;
    sum += value;
    count += 1;
  }
  return count === 0 ? undefined : sum / count;
}

/** k3 of the behaviour policy against the models the step has scored, over the tokens that train. */
function measureKl({ train: { batch, old, weights } }: StepAdvantages): Record<string, number> {
  const own = old.logp;
  if (own === undefined) return {};
  return Object.fromEntries(
    Object.entries(old).flatMap(([channel, other]) => {
      if (!channel.startsWith("logp:") || other === undefined) return [];
      const found = { sum: 0, count: 0 };
      for (const { values } of columnsInStretches(batch, own, other, weights))
        addK3(found, values[0]!, values[1]!, values[2]!);
      const { sum, count } = found;
      return count === 0 ? [] : [[`policy/kl/${channel.slice("logp:".length)}`, sum / count]];
    }),
  );
}

function addK3(
  found: { sum: number; count: number },
  own: Float64Array,
  other: Float64Array,
  weights: Float64Array,
): void {
  for (let i = 0; i < weights.length; i++) {
    const gap = other[i]! - own[i]!;
    if (weights[i] === 0 || Number.isNaN(gap)) continue;
    found.sum += Math.expm1(gap) - gap;
    found.count += 1;
  }
}

/** The memory of the run's process, next to the predicted peak. */
export const measureMemory = ({ config, policy }: Session): Record<string, number> => ({
  "memory/rss": process.memoryUsage.rss(),
  "memory/peak": process.resourceUsage().maxRSS * 1024,
  "memory/predicted": planMemory(config).peak,
  "memory/tensors": policy.counters().tensors,
});

export function measure(
  context: StepContext,
  selected: Selected,
  advantages: StepAdvantages,
  groups: readonly Group[],
  updates: readonly UpdateStats[],
): Record<string, number> {
  const { batch, scored, verdicts } = selected;
  const entropy = meanOf(batch.columns.entropy);
  return {
    ...describeStep(batch, scored, advantages.train, groups),
    "groups/admitted": verdicts.filter((verdict) => verdict.admitted).length,
    "groups/drawn": groups.length,
    ...measureKl(advantages),
    ...measureUpdates(updates),
    ...(entropy === undefined ? {} : { "policy/entropy": entropy }),
    ...measureCurriculum(context.stage.curriculum, groups),
    ...measureGuidance(selected),
    ...measureBranching(context, selected),
    ...measureEpisodes(batch),
    "tokens/generated": lengthOfAll(batch),
    ...measureMemory(context.session),
  };
}
