import { z } from "zod";
import { mask } from "../../core/declaration.ts";
import { origin } from "../../core/rollouts.ts";

export const given = mask({
  name: "given",
  summary:
    "Whether tokens that were put into a response (a guide's prefix, a demonstration) train beside those the model wrote, alone, or not at all. What an environment answered never trains.",
  sources: ["Blending Supervised and Reinforcement Fine-Tuning with Prefix Sampling"],
  params: z.object({
    train: z
      .enum(["also", "only", "never"])
      .default("also")
      .describe("also: given and written tokens; only: given ones; never: written ones."),
  }),
  create:
    ({ train }) =>
    (batch) =>
      batch.mask.map((kept, i) => {
        if (batch.origin[i] === origin.given) return train === "never" ? 0 : 1;
        return train === "only" ? 0 : kept;
      }),
});
