import { z } from "zod";
import { rewardTerm } from "../../../core/declaration.ts";
import type { Batch } from "../../../core/rollouts.ts";
import type { TermValue } from "../../../core/slots/reward.ts";
import { failure, value } from "../perRow.ts";
import { atLeast, numbersOf, ofTerm } from "../said.ts";

const params = z.object({ of: ofTerm, at_least: atLeast });

/** How likely the policy found each response when it wrote it, in nats; undefined: that was not recorded. */
function likelihoods({ columns: { logp_old }, offsets, mask }: Batch): readonly number[] | undefined {
  if (logp_old === undefined) return undefined;
  return Array.from({ length: offsets.length - 1 }, (_, row) => {
    let sum = 0;
    for (let t = offsets[row]!; t < offsets[row + 1]!; t++) if (mask[t] === 1) sum += logp_old[t]!;
    return sum;
  });
}

/** Of a place among so many, from 0. */
const share = (place: number, count: number): number => {
  let sum = 0;
  for (let j = 0; j < count; j++) sum += 1 / Math.log2(j + 2);
  return 1 / Math.log2(place + 2) / sum;
};

export const rankPenalty = rewardTerm({
  name: "rank_penalty",
  summary:
    "In a group with a correct response each wrong one costs the more, the likelier the policy found it: a hard negative counts more than an easy one. Groups without a correct response cost nothing.",
  formula:
    "wrong at rank i (0 the likeliest): −(1/log2(i + 2)) / Σ_j 1/log2(j + 2); correct, or no correct one in the group: 0",
  sources: ["Reinforced Preference Optimization for Recommendation"],
  needs: ["siblings"],
  judges: "answer",
  reads: ({ of }) => [of],
  range: () => [-1, 0],
  computes: () => true,
  params,
  create: ({ of, at_least }) => ({
    score: (batch, context) => {
      const said = numbersOf(context, of);
      const likely = likelihoods(batch);
      const found: TermValue[] = said.map((one) => (typeof one === "number" ? value(0) : one));
      if (likely === undefined)
        return Promise.resolve(found.map(() => failure("rank_penalty needs log-probs, and these have none")));
      for (let group = 0; group < batch.groups; group++) {
        const rows = said.flatMap((one, row) =>
          batch.group[row] === group && typeof one === "number" ? [{ row, right: one >= at_least }] : [],
        );
        if (!rows.some(({ right }) => right)) continue;
        const ranked = rows.toSorted((one, other) => likely[other.row]! - likely[one.row]!);
        for (const [place, { row, right }] of ranked.entries())
          if (!right) found[row] = value(-share(place, rows.length));
      }
      return Promise.resolve(found);
    },
  }),
});
