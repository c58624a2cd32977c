import { z } from "zod";
import { param, rewardTerm } from "../../../core/declaration.ts";
import { refers } from "../../../core/references.ts";
import type { TermValue } from "../../../core/slots/reward.ts";
import { value } from "../perRow.ts";
import { numbersOf } from "../said.ts";

const params = z.object({
  of: param(
    refers({ to: "term" }).min(1),
    "The reward term that is corrected, e.g. a reward model; give it weight 0.",
  ),
  by: param(
    refers({ to: "term" }).min(1),
    "The reward term that lifts it, e.g. `phrases`; give it weight 0.",
  ),
  below: param(z.number().default(0.5), "Only rewards below this are lifted."),
  factor: param(z.number().nonnegative().default(0.1), "Factor on the term that lifts."),
  most: param(z.number().default(1), "Upper bound on a lifted reward."),
});

export const boostIfLow = rewardTerm({
  name: "boost_if_low",
  summary:
    "Another term's reward, lifted by a third one where it is low: a weak reward model's false negatives count less.",
  formula: "r = min(most, r_of + factor · r_by) where r_of < below, else r_of",
  sources: ["The Climb Carves Wisdom Deeper Than the Summit: On the Noisy Rewards in Learning to Reason"],
  judges: "answer",
  reads: ({ of, by }) => [of, by],
  computes: () => true,
  params,
  create: ({ of, by, below, factor, most }) => ({
    score: (_, context) => {
      const lifts = numbersOf(context, by);
      const scored = numbersOf(context, of).map((said, row): TermValue => {
        if (typeof said !== "number") return said;
        const lift = lifts[row]!;
        if (said >= below) return value(said);
        return typeof lift === "number" ? value(Math.min(most, said + factor * lift)) : lift;
      });
      return Promise.resolve(scored);
    },
  }),
});
