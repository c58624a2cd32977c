/** Rubric dropout: at each step some of a task's criteria do not count, the same ones for its whole group. */
import type { RolloutRecord } from "../../../core/rollouts.ts";
import type { RubricCriterion } from "../../../core/rubrics.ts";
import { randomStream } from "../../../lib/random.ts";

/** Criteria that stay whatever the share is. */
const LEAST = 3;

/**
 * The criteria that count for a rollout, in their order. Those that may veto always do, and one with points above 0 where there
 * is one. Held-out answers are scored by all.
 */
export function keptCriteria(
  criteria: readonly RubricCriterion[],
  { use, task }: Pick<RolloutRecord, "use" | "task">,
  { share, step }: { readonly share: number; readonly step: number },
): readonly RubricCriterion[] {
  const away = Math.min(Math.floor(share * criteria.length), criteria.length - LEAST);
  if (away <= 0 || use === "evaluate") return criteria;
  const random = randomStream("rubric dropout", task.id, step);
  const order = criteria
    .map((criterion, k) => ({ k, stays: criterion.veto === true, key: random.next() }))
    .sort((a, b) => Number(a.stays) - Number(b.stays) || a.key - b.key);
  // At least one that can earn stays last, so that it is the last to go.
  const earns = order.findLastIndex(({ k }) => criteria[k]!.points > 0);
  if (earns >= 0) order.push(...order.splice(earns, 1));
  const dropped = new Set(
    order
      .slice(0, away)
      .filter(({ stays }) => !stays)
      .map(({ k }) => k),
  );
  return criteria.filter((_, k) => !dropped.has(k));
}
