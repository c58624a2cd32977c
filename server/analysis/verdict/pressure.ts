/** Whether advantages push a policy towards what a reward term rewards, with the term and without it. Pure. */
import { fromWire, type RolloutRow } from "../../../shared/rollouts/rollouts.ts";

type Row = Pick<RolloutRow, "step" | "group" | "reward" | "rewards">;

export interface Pressure {
  /** Mean over rollouts of the advantage times the term's standard score within its group. */
  readonly with: number;
  readonly without: number;
}

/** As the advantage's scale adds it. */
const epsilon = 1e-4;
/** A push that is worth the name, and what may be left of it without the term. */
const [notable, left] = [0.1, 0.25];

/**
 * Of recorded rewards alone: nothing is run.
 * @param weight of the term in these steps
 * @param scaled whether advantages are divided by the spread of their group
 * @returns null where no group has the term's values and differs in them
 */
export function pressureOf(
  rows: readonly Row[],
  term: string,
  { weight, scaled }: { readonly weight: number; readonly scaled: boolean },
): Pressure | null {
  const groups = new Map<string, { reward: number; own: number }[]>();
  for (const { step, group, reward, rewards } of rows) {
    const value = rewards?.[term];
    if (reward === undefined || reward === null || value === undefined || value === null) continue;
    if (typeof value === "object") return null;
    const [total, own] = [fromWire(reward), fromWire(value)];
    if (!Number.isFinite(total) || !Number.isFinite(own)) continue;
    const key = `${step}\0${group}`;
    const found = groups.get(key);
    if (found === undefined) groups.set(key, [{ reward: total, own }]);
    else found.push({ reward: total, own });
  }
  const sums = { with: 0, without: 0, rollouts: 0 };
  for (const group of groups.values()) {
    const scores = standard(
      group.map(({ own }) => own),
      true,
    );
    if (scores === null) continue;
    const push = (rewards: readonly number[]): number =>
      (standard(rewards, scaled) ?? []).reduce((sum, advantage, i) => sum + advantage * scores[i]!, 0);
    sums.with += push(group.map(({ reward }) => reward));
    sums.without += push(group.map(({ reward, own }) => reward - weight * own));
    sums.rollouts += group.length;
  }
  return sums.rollouts === 0
    ? null
    : { with: sums.with / sums.rollouts, without: sums.without / sums.rollouts };
}

/** Differences from the mean, by their standard deviation where asked for; null where all are equal. */
function standard(values: readonly number[], scaled: boolean): readonly number[] | null {
  const mean = values.reduce((sum, value) => sum + value, 0) / values.length;
  const spread = Math.sqrt(values.reduce((sum, value) => sum + (value - mean) ** 2, 0) / values.length);
  if (values.length < 2 || !(spread > 1e-9)) return null;
  return values.map((value) => (value - mean) / (scaled ? spread + epsilon : 1));
}

/** The push is gone without the term: it is its cause, and no companion. */
export const isCause = (pressure: Pressure | null): boolean =>
  pressure !== null && pressure.with > notable && pressure.without < left * pressure.with;
