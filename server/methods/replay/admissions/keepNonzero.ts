import { z } from "zod";
import { replayAdmission } from "../../../core/declaration.ts";

/** What sums of equal rewards leave of a difference that is none. */
const NOTHING = 1e-8;

export const keepNonzero = replayAdmission({
  name: "nonzero_advantage",
  summary:
    "Keeps rollouts that have an advantage other than 0: those of groups that are all alike have none.",
  formula: "keep i ⇔ mean_t A_t ≠ 0",
  sources: ["Sharing is Caring: Efficient LM Post-Training with Collective RL Experience Sharing"],
  params: z.object({}),
  create:
    () =>
    ({ advantage }) =>
      Math.abs(advantage) > NOTHING,
});
