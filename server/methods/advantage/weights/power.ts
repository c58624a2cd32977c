import { z } from "zod";
import { rolloutSources } from "../../../../shared/rollouts/fields.ts";
import { schedulable, valueAt } from "../../../core/schedule.ts";
import { tokenWeight, param } from "../../../core/declaration.ts";
import { recordedColumn } from "../columns.ts";

export const power = tokenWeight({
  name: "power",
  summary:
    "Tokens that the policy finds unlikely count more: (1 − π)^γ, with π as it was when the step began. By default this acts on what others wrote (teachers, datasets); a token without a log-prob counts 1.",
  formula: "w_t = (1 − π(y_t))^γ",
  sources: [
    "RL-PLUS: Countering Capability Boundary Collapse of LLMs in Reinforcement Learning with Hybrid-policy Optimization",
  ],
  params: z.object({
    gamma: param(schedulable(z.number().nonnegative()).default(0.5), "γ; 0: no weighting."),
    on: param(
      z
        .union([z.literal("all"), z.array(z.enum(rolloutSources)).min(1)])
        .default(["guided", "teacher", "dataset"]),
      "Rollouts it acts on, by their source.",
    ),
  }),
  actsOn: ({ on }) =>
    on === "all" || on.includes("self")
      ? undefined
      : on.includes("replay")
        ? ["given", "logged", "replayed"]
        : ["given", "logged"],
  create:
    ({ gamma, on }) =>
    (batch, stats, _advantages, clock) => {
      // Of what others wrote only that column is the policy's.
      const logp =
        stats["logp:proximal"] ??
        stats.logp ??
        recordedColumn(batch, "logp_old", "advantage.token_weights: power");
      const exponent = valueAt(gamma, clock);
      const weights = new Float64Array(batch.mask.length).fill(1);
      batch.records.forEach(({ source }, row) => {
        if (on !== "all" && !on.includes(source)) return;
        for (let t = batch.offsets[row]!; t < batch.offsets[row + 1]!; t++)
          if (!Number.isNaN(logp[t]!)) weights[t] = Math.max(0, -Math.expm1(logp[t]!)) ** exponent;
      });
      return weights;
    },
});
