/** Observations of a step: what its groups' signals say of their arms. */
import { mean } from "../../../shared/lib/mean.ts";
import type { ArmSet } from "../../core/slots/arms.ts";
import type { GroupOf, Observation, Signal } from "../../core/slots/curriculum.ts";
import type { Group } from "../../core/rollouts.ts";

interface Observations {
  /** One per arm, over all its rollouts. */
  readonly observations: readonly Observation[];
  /** Each group's signal; NaN: none. */
  readonly signals: Float64Array;
  /** The arm of each group; −1: no arm has that name. */
  readonly arms: readonly number[];
  /** Groups whose signal was not finite. */
  readonly unmeasured: readonly Group[];
}

/** Measures groups, in order. Has no side effects. */
export function observationsOf(groups: readonly Group[], signal: Signal, armSet: ArmSet): Observations {
  const arms = groups.map(({ arm }) => armSet.find(arm));
  const unmeasured: Group[] = [];
  const earlier: GroupOf[] = [];
  const measured = groups.map((group, i): number[] => {
    if (group.rewards.length === 0) return [];
    const values = signal.measure(group, arms[i]!, armSet, earlier);
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
