/** What terms said criterion by criterion: as recorded, and as metrics. */
import { criterionName, type JudgedCriterion } from "../../../shared/rollouts/criteria.ts";
import type { RolloutRow } from "../../../shared/rollouts/rollouts.ts";
import type { Batch } from "../../core/rollouts.ts";
import type { RewardColumn } from "../../core/reward.ts";

/** What the terms said of a row, as a recorded rollout has it. */
export function detailsOf(terms: readonly RewardColumn[], row: number): Pick<RolloutRow, "details"> {
  const found = terms.flatMap(({ name, criteria }) => {
    const own = criteria?.get(row);
    return own === undefined ? [] : [[name, { criteria: own }] as const];
  });
  return found.length === 0 ? {} : { details: Object.fromEntries(found) };
}

/** Criteria of a term that have a metric, at most. */
const most = 16;

interface CriterionTally {
  sum: number;
  known: number;
  readonly groups: Set<number>;
}

/** `errors` is what failed of the whole term. Line ends and runs of spaces are one space. */
function measureOf(criterion: JudgedCriterion): string {
  const name = criterionName(criterion).replace(/\s+/g, " ").trim();
  return name === "errors" ? "errors (criterion)" : name;
}

function tallied(
  criteria: NonNullable<RewardColumn["criteria"]>,
  { group }: Batch,
): Map<string, CriterionTally> {
  const tallies = new Map<string, CriterionTally>();
  for (const [row, list] of criteria)
    for (const one of list) {
      const name = measureOf(one);
      const tally = tallies.get(name) ?? { sum: 0, known: 0, groups: new Set() };
      tallies.set(name, tally);
      tally.groups.add(group[row]!);
      if (one.met === null) continue;
      tally.sum += one.met;
      tally.known += 1;
    }
  return tallies;
}

/**
 * `reward/<term>/<criterion>`: mean of how far it is met, over the rollouts of which that is known. Rubrics that are each
 * task's own would make a metric of every task: only criteria that several groups share have one, a quarter of those
 * that the term scored by criteria.
 */
export function describeCriteria(terms: readonly RewardColumn[], batch: Batch): Record<string, number> {
  const metrics: Record<string, number> = {};
  for (const { name, criteria } of terms) {
    if (criteria === undefined) continue;
    const groups = new Set([...criteria.keys()].map((row) => batch.group[row]!)).size;
    const shared = [...tallied(criteria, batch)]
      .filter(([, { groups: own, known }]) => own.size >= Math.max(2, groups / 4) && known > 0)
      .sort(([, one], [, other]) => other.groups.size - one.groups.size)
      .slice(0, most);
    for (const [criterion, { sum, known }] of shared) metrics[`reward/${name}/${criterion}`] = sum / known;
  }
  return metrics;
}
