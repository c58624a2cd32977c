import { mean } from "../../../shared/lib/mean.ts";
import type { Group } from "../../core/rollouts.ts";
import { GeneratedTasks } from "../../methods/generation/generatedTasks.ts";
import type { Curriculum } from "./curriculum.ts";

/** By family of arms: the share of the step's groups, and the mean of what is believed of the arms drawn in it. */
export function measureCurriculum(curriculum: Curriculum, groups: readonly Group[]): Record<string, number> {
  const values: Record<string, number> = {};
  const families = groups.map(({ task }) => curriculum.familyOf(task));
  for (const family of new Set([...curriculum.division.families, ...families])) {
    const own = groups.filter((_, i) => families[i] === family);
    values[`curriculum/${family}/share`] = own.length / groups.length;
    // An arm that is its own family is known whether it was drawn or not.
    const arms = curriculum.division.once
      ? own.map(({ arm }) => curriculum.arms.find(arm))
      : [curriculum.arms.find(family)];
    const estimate = mean(arms.map((arm) => curriculum.estimate(arm)));
    if (!Number.isNaN(estimate)) values[`curriculum/${family}/estimate`] = estimate;
    const spread = mean(arms.map((arm) => curriculum.spread(arm)));
    if (Number.isFinite(spread)) values[`curriculum/${family}/spread`] = spread;
  }
  for (const { source } of curriculum.sources) {
    if (!(source instanceof GeneratedTasks)) continue;
    const armless = source.made.filter((task) => curriculum.isArmless(task));
    values[`generated/${source.name}/armless`] = armless.length;
  }
  return values;
}
