/** The metrics of a step, named as in shared/metrics.ts. */
import type { Group, UpdateStats } from "../seams.ts";
import { planMemory } from "../memory.ts";
import type { Collected, Place } from "./collect.ts";
import type { StepAdvantages } from "./learn.ts";
import type { Session } from "./session.ts";

const mean = (values: readonly number[]): number =>
  values.reduce((sum, value) => sum + value, 0) / values.length;

/** Means over the step's updates; the largest ratio; the last learning rate. */
export function measureUpdates(updates: readonly UpdateStats[]): Record<string, number> {
  const last = updates.at(-1);
  if (last === undefined) return { "tokens/trained": 0 };
  // Whether a step was skipped shows in its gradient norm: it is no metric of its own.
  const names = new Set(
    updates.flatMap((update) => Object.keys(update.metrics)).filter((name) => name !== "update/skipped"),
  );
  const own = [...names].map((name): [string, number] => {
    const values = updates.map((update) => update.metrics[name]).filter((value) => value !== undefined);
    return [name, name === "update/ratio_max" ? Math.max(...values) : mean(values)];
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
function meanOf(column: Float64Array | undefined): number | undefined {
  const known = [...(column ?? [])].filter((value) => !Number.isNaN(value));
  return known.length === 0 ? undefined : mean(known);
}

/** k3 of the behaviour policy against the models the step has scored, over the tokens that train. */
function measureKl({ train }: StepAdvantages): Record<string, number> {
  const own = train.old.logp;
  if (own === undefined) return {};
  return Object.fromEntries(
    Object.entries(train.old).flatMap(([channel, other]) => {
      if (!channel.startsWith("logp:") || other === undefined) return [];
      const gaps = [...own].flatMap((logp, t) => (train.weights[t] === 0 ? [] : [other[t]! - logp]));
      return gaps.length === 0
        ? []
        : [[`policy/kl/${channel.slice("logp:".length)}`, mean(gaps.map((gap) => Math.expm1(gap) - gap))]];
    }),
  );
}

function measureCurriculum({ stage }: Place, groups: readonly Group[]): Record<string, number> {
  const estimates = stage.curriculum.estimates();
  const values: Record<string, number> = {};
  for (const arm of stage.curriculum.arms) {
    values[`curriculum/${arm}/share`] = groups.filter((group) => group.arm === arm).length / groups.length;
    const estimate = estimates.get(arm);
    if (estimate !== undefined) values[`curriculum/${arm}/estimate`] = estimate;
  }
  return values;
}

/** What the run's process holds, beside what was predicted. */
export const measureMemory = ({ config, policy }: Session): Record<string, number> => ({
  "memory/rss": process.memoryUsage.rss(),
  "memory/peak": process.resourceUsage().maxRSS * 1024,
  "memory/predicted": planMemory(config).peak,
  "memory/tensors": policy.counters().tensors,
});

export function measure(
  place: Place,
  collected: Collected,
  advantages: StepAdvantages,
  groups: readonly Group[],
  updates: readonly UpdateStats[],
): Record<string, number> {
  const { batch, scored, verdicts } = collected;
  const entropy = meanOf(batch.columns.entropy);
  return {
    ...place.stage.algorithm.describe(batch, scored, advantages.all, advantages.weights, groups),
    "groups/admitted": verdicts.filter((verdict) => verdict.admitted).length,
    "groups/drawn": groups.length,
    ...measureKl(advantages),
    ...measureUpdates(updates),
    ...(entropy === undefined ? {} : { "policy/entropy": entropy }),
    ...measureCurriculum(place, groups),
    "tokens/generated": batch.tokens.length,
    ...measureMemory(place.session),
  };
}
