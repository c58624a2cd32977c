import { z } from "zod";
import { param, rewardTerm } from "../../../core/declaration.ts";
import { refers } from "../../../core/references.ts";
import type { Batch } from "../../../core/rollouts.ts";
import type { TermValue } from "../../../core/slots/reward.ts";
import { value } from "../perRow.ts";
import { numbersOf } from "../said.ts";

const params = z.object({
  of: param(
    z.array(refers({ to: "term" })).min(2),
    "The reward terms that are compared, such as those of several reward models.",
  ),
  within: param(
    z.number().min(0),
    "They agree on a response where its gaps to its siblings differ by no more than this, on average.",
  ),
});

/** Mean over the siblings that have both values of |(a − a') − (b − b')|; 0 without one. */
export function gapDifference(
  one: readonly (number | TermValue)[],
  other: readonly (number | TermValue)[],
  row: number,
  siblings: readonly number[],
): number {
  const differenceAt = (at: number): number => {
    const [a, b] = [one[at], other[at]];
    return typeof a === "number" && typeof b === "number" ? a - b : Number.NaN;
  };
  const own = differenceAt(row);
  const apart = siblings
    .filter((sibling) => sibling !== row)
    .map((sibling) => Math.abs(own - differenceAt(sibling)))
    .filter((gap) => !Number.isNaN(gap));
  return apart.length === 0 ? 0 : apart.reduce((sum, gap) => sum + gap, 0) / apart.length;
}

/** The largest of two terms' differences. */
function disagreement(
  said: readonly (readonly (number | TermValue)[])[],
  row: number,
  siblings: readonly number[],
): number {
  let most = 0;
  said.forEach((one, i) => {
    for (const other of said.slice(i + 1)) most = Math.max(most, gapDifference(one, other, row, siblings));
  });
  return most;
}

function siblingsOf({ group, groups }: Batch): number[][] {
  const rows: number[][] = Array.from({ length: groups }, () => []);
  group.forEach((one, row) => rows[one]!.push(row));
  return rows;
}

export const agreement = rewardTerm({
  name: "agreement",
  summary:
    "Whether several terms agree on how much better or worse a response is than its siblings. With `judge: { …, unless: NAME }` a judge is asked only where they do not. Give it `weight: 0`.",
  formula: "1 where max_{a,b} mean_{y'} |(r_a(y) − r_a(y')) − (r_b(y) − r_b(y'))| ≤ within, else 0",
  sources: ["Making RL with Preference-based Feedback Efficient via Randomization"],
  status: "approximate",
  needs: ["siblings"],
  judges: "form",
  range: () => [0, 1],
  reads: ({ of }) => of,
  params,
  create: ({ of, within }) => ({
    score: (batch, context) => {
      const said = of.map((term) => numbersOf(context, term));
      const siblings = siblingsOf(batch);
      return Promise.resolve(
        batch.records.map((_, row): TermValue => {
          const missing = said.map((one) => one[row]!).find((one) => typeof one !== "number");
          if (missing !== undefined && typeof missing !== "number") return missing;
          const apart = disagreement(said, row, siblings[batch.group[row]!]!);
          return { ...value(apart <= within ? 1 : 0), components: { apart } };
        }),
      );
    },
  }),
});
