import { z } from "zod";
import { tokenWeight, param } from "../../../core/declaration.ts";
import { refers } from "../../../core/references.ts";
import { readerName } from "../../../core/rows/reader.ts";
import type { TokenWeight } from "../../../core/loss.ts";
import { schedulable, valueAt } from "../../../core/schedule.ts";
import { scoredColumn } from "../columns.ts";

export const evidence = tokenWeight({
  name: "evidence",
  summary:
    "A teacher that reads more than the policy says which tokens count, never in which direction: those that it finds likelier than the policy does count more where the advantage is positive, and less where it is negative. Rollouts for which it reads nothing more count 1.",
  formula: "w_t = 1 − λ + λ clip((π_teacher(y_t) / π(y_t))^sign(A_t), 1 − ε, 1 + ε), without gradient",
  sources: ["Self-Distilled RLVR"],
  params: z.object({
    model: param(
      refers({ to: "model", also: ["reference"] }).default("reference"),
      "The teacher; an entry of `kl` with this model says what it reads (`shown`), and may have the coefficient 0.",
    ),
    shown: param(
      refers({ to: "shown" }).default("solution"),
      "What that entry shows: `solution`, `answer`, `sibling` or `field`; the second of a kind in other words is `solution-2`.",
    ),
    clip: param(z.number().min(0).lt(1).default(0.2), "ε, the bound on the factor's distance from 1."),
    mix: param(
      schedulable(z.number().min(0).max(1)).default(0.5),
      "λ, the teacher's share; 0: every token counts alike.",
    ),
  }),
  create: ({ model, shown, clip, mix }) => {
    const reader = readerName({ model, teacher: shown });
    const weigh: TokenWeight = (batch, stats, advantages, clock) => {
      const teacher = scoredColumn(stats, `logp:${reader}`, "advantage.token_weights: evidence");
      const own = stats["logp:proximal"] ?? scoredColumn(stats, "logp", "advantage.token_weights: evidence");
      const share = valueAt(mix, clock);
      const weights = new Float64Array(batch.mask.length).fill(1);
      batch.records.forEach((record, row) => {
        if (record.shown?.[shown] === undefined) return;
        for (let t = batch.offsets[row]!; t < batch.offsets[row + 1]!; t++) {
          const ratio = Math.exp(Math.sign(advantages[t]!) * (teacher[t]! - own[t]!));
          // Tokens that do not train may have no log-prob.
          if (!Number.isNaN(ratio))
            weights[t] = 1 - share + share * Math.min(1 + clip, Math.max(1 - clip, ratio));
        }
      });
      return weights;
    };
    return Object.assign(weigh, { models: [reader] });
  },
});
