/** Numbers that terms give next to their values: as recorded, and as metrics. Nothing sums them. */
import { toWire, type RolloutRow } from "../../../shared/rollouts/rollouts.ts";
import type { RewardColumn } from "../../core/reward.ts";

/** What the terms gave of a row, as a recorded rollout has it. */
export function componentsOf(terms: readonly RewardColumn[], row: number): Pick<RolloutRow, "components"> {
  const found = terms.flatMap(({ name, components }) => {
    const own = components?.get(row);
    if (own === undefined) return [];
    const numbers = Object.entries(own).map(([component, value]) => [component, toWire(value)] as const);
    return [[name, Object.fromEntries(numbers)] as const];
  });
  return found.length === 0 ? {} : { components: Object.fromEntries(found) };
}

/** Components of a term that have a metric, at most. */
const most = 16;

/** `reward/<term>/component/<component>`: its mean over the rollouts that have it. */
export function describeComponents(terms: readonly RewardColumn[]): Record<string, number> {
  const metrics: Record<string, number> = {};
  for (const { name, components } of terms) {
    const tallies = new Map<string, { sum: number; count: number }>();
    for (const own of components?.values() ?? [])
      for (const [component, value] of Object.entries(own)) {
        const tally = tallies.get(component) ?? { sum: 0, count: 0 };
        tallies.set(component, { sum: tally.sum + value, count: tally.count + 1 });
      }
    for (const [component, { sum, count }] of [...tallies].slice(0, most))
      metrics[`reward/${name}/component/${component}`] = sum / count;
  }
  return metrics;
}
