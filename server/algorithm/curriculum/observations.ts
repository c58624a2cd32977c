/** What the groups of a step say of their arms. */
import { mean } from "../../../shared/mean.ts";
import type { GroupOf, ArmSet, Observation, Signal } from "../../core/slots/curriculum.ts";
import type { Group } from "../../core/rollouts.ts";

export interface Observations {
  /** One an arm, over all its rollouts. */
  readonly observations: readonly Observation[];
  /** What each group says of its arm; NaN: nothing. */
  readonly signals: Float64Array;
  /** Of each group; −1: none of that name. */
  readonly arms: readonly number[];
  /** Groups of which the signal was no finite number. */
  readonly unmeasured: readonly Group[];
}

/** Measures groups, in their order. Changes nothing. */
export function observationsOf(groups: readonly Group[], signal: Signal, known: ArmSet): Observations {
  const arms = groups.map(({ arm }) => known.find(arm));
  const unmeasured: Group[] = [];
  const earlier: GroupOf[] = [];
  const measured = groups.map((group, i): number[] => {
    if (group.rewards.length === 0) return [];
    const values = signal.measure(group, arms[i]!, known, earlier);
    earlier.push({ group, arm: arms[i]! });
    if (values.length === 0 || Number.isFinite(mean(values))) return Array.from(values);
    unmeasured.push(group);
    return [];
  });
  const parts = new Map<number, number[]>();
  measured.forEach((values, i) => {
    if (values.length > 0 && arms[i]! >= 0) parts.set(arms[i]!, [...(parts.get(arms[i]!) ?? []), i]);
  });
  const observations = [...parts].map(([arm, of]): Observation => {
    const rollouts = of.reduce((sum, i) => sum + groups[i]!.rewards.length, 0);
    return {
      arm,
      mean: of.reduce((sum, i) => sum + groups[i]!.rewards.length * mean(measured[i]!), 0) / rollouts,
      values: of.flatMap((i) => measured[i]!),
      rollouts,
    };
  });
  return { observations, signals: Float64Array.from(measured, mean), arms, unmeasured };
}
