/** What a step's rollouts say, under the names of the list of metrics: for runs that log no metrics of their own. */
import { fromWire, toWire, type RolloutRow, type WireNumber } from "../../../../shared/rollouts/rollouts.ts";
import type { GroupRecord } from "../../../../shared/log/records.ts";

/** @param rows of one step, those that evaluate among them */
export function rowMetrics(
  rows: readonly RolloutRow[],
  groups: readonly GroupRecord[],
): Record<string, WireNumber> {
  const train = rows.filter(({ use = "train" }) => use === "train");
  if (train.length === 0) return {};
  const values: Record<string, WireNumber> = {
    "rollout/count": train.length,
    ...totals(train),
    ...outcomes(train, groups),
  };
  const terms = new Set(
    train.flatMap(({ rewards = {}, errors = {} }) => Object.keys({ ...rewards, ...errors })),
  );
  for (const term of terms) {
    const numbers = train.flatMap(({ rewards = {} }) => {
      const value = rewards[term] ?? null;
      return value === null || typeof value === "object" ? [] : [fromWire(value)];
    });
    if (numbers.length > 0) values[`reward/${term}`] = toWire(mean(numbers));
    values[`reward/${term}/errors`] = train.filter(({ errors = {} }) => Object.hasOwn(errors, term)).length;
  }
  return values;
}

const mean = (values: readonly number[]): number =>
  values.reduce((sum, value) => sum + value, 0) / values.length;

const rewardsOf = (rows: readonly RolloutRow[]): number[] =>
  rows.flatMap(({ reward = null }) => (reward === null ? [] : [fromWire(reward)]));

function totals(rows: readonly RolloutRow[]): Record<string, WireNumber> {
  const rewards = rewardsOf(rows);
  if (rewards.length === 0) return { "rollout/scored": 0 };
  const middle = mean(rewards);
  const spread = Math.sqrt(mean(rewards.map((reward) => (reward - middle) ** 2)));
  return {
    "rollout/scored": rewards.length,
    "reward/total": toWire(middle),
    "reward/total/std": toWire(spread),
    "reward/total/min": toWire(Math.min(...rewards)),
    "reward/total/max": toWire(Math.max(...rewards)),
  };
}

function outcomes(rows: readonly RolloutRow[], groups: readonly GroupRecord[]): Record<string, WireNumber> {
  const several = groups.filter(({ size }) => size > 1);
  if (several.length === 0) return {};
  const share = (is: (group: GroupRecord) => boolean): number => several.filter(is).length / several.length;
  const byGroup = new Map<string, number[]>();
  for (const row of rows) {
    const rewards = byGroup.get(row.group) ?? [];
    byGroup.set(row.group, rewards);
    rewards.push(...rewardsOf([row]));
  }
  return {
    "groups/drawn": groups.length,
    "groups/all_right": share(({ successes, size }) => successes >= size),
    "groups/mixed": share(({ successes, size }) => successes > 0 && successes < size),
    "groups/all_wrong": share(({ successes }) => successes === 0),
    "groups/zero_advantage": share(({ group }) => new Set(byGroup.get(group)).size <= 1),
  };
}
