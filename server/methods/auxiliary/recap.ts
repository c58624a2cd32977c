import { z } from "zod";
import { auxiliary, param } from "../../core/declaration.ts";

export const recap = auxiliary({
  name: "recap",
  summary:
    "Weights the losses of a step (the objective's and the auxiliary ones): a loss that has lately fallen little or unsteadily counts more. Its own `weight`, `when` and `place` are not read. Losses count by their magnitude. Until two windows are full, every weight is 1.",
  formula: "λ_k = K · softmax(s_k / T), s_k = μ_k/μ̃_k + σ_k/(μ_k + μ̃_k)",
  sources: ["Beyond Reasoning Gains: Mitigating General Capabilities Forgetting in Large Reasoning Models"],
  params: z.object({
    window: param(
      z.number().int().min(2).default(10),
      "Steps in a window; the window before it has the same size.",
    ),
    temperature: param(z.number().positive().default(5), "T; 5 in the source."),
  }),
  create: ({ window, temperature }) => ({ kind: "reweighting", window, temperature }),
});
