import { z } from "zod";
import { objective, param } from "../../../core/declaration.ts";
import type { Objective } from "../../../core/loss.ts";
import { anchorParam, betaParam } from "../anchor.ts";
import { anchorModels } from "../rowLevel.ts";
import { spanRegression } from "./spanRegression.ts";

export const logRatioRegression = objective({
  name: "log_ratio_regression",
  aliases: ["kimi", "webrl"],
  summary:
    "Regresses β times the log-ratio to another model on the advantage: no importance weights, any data.",
  formula: "ℓ = ½ (A − β Σ_span log π/π_anchor)² / β^divide; divide 1: the gradient is that of Kimi k1.5",
  sources: [
    "Kimi k1.5: Scaling Reinforcement Learning with LLMs",
    "WebRL: Training LLM Web Agents via Self-Evolving Online Curriculum Reinforcement Learning",
  ],
  params: z.object({
    beta: betaParam(0.1),
    anchor: anchorParam("behaviour"),
    level: param(
      z.enum(["response", "turn", "step", "token"]).default("response"),
      "The span that has one log-ratio; the response, if no turns or steps are recorded.",
    ),
    divide: param(
      z.number().min(0).max(2).default(1),
      "Power of β that divides the loss. 0: no division; 1: Kimi k1.5; 2: the target is A / β.",
    ),
    shape: param(
      z.enum(["squared", "smooth_l1"]).default("squared"),
      "squared, or linear for residuals above 1 (the released code of WebRL).",
    ),
  }),
  create: ({ beta, anchor, level, divide, shape }): Objective => ({
    channels: ["logp"],
    unit: "sequence",
    models: anchorModels(anchor),
    loss: (input) => spanRegression(input, { beta, anchor, level, factor: beta ** -divide, shape }),
  }),
});
