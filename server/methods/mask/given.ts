import { z } from "zod";
import { mask, param } from "../../core/declaration.ts";
import { origin } from "../../core/rollouts.ts";

export const given = mask({
  name: "given",
  summary:
    "Whether prefilled tokens (a guide's prefix, a demonstration) train along with generated ones, alone, or not at all. An environment's answers never train.",
  sources: ["Blending Supervised and Reinforcement Fine-Tuning with Prefix Sampling"],
  params: z.object({
    train: param(
      z.enum(["also", "only", "never"]).default("also"),
      "also: prefilled and generated tokens; only: prefilled ones; never: generated ones.",
    ),
  }),
  create:
    ({ train }) =>
    (batch) =>
      batch.mask.map((kept, i) => {
        if (batch.origin[i] === origin.given) return train === "never" ? 0 : 1;
        return train === "only" ? 0 : kept;
      }),
});
