import { z } from "zod";
import { objective } from "../../../core/declaration.ts";
import { dppoOn, dppoParams } from "./dppo.ts";
import { surrogate } from "./surrogate.ts";

export const dppoTv = objective({
  name: "dppo_tv",
  summary:
    "Policy gradient with a truncated weight; tokens whose probability has moved too far, by difference, stop training.",
  formula: "ℓ = −A sg(min(ρ, cap)) log π, where π − π_anchor ≤ high for A > 0, ≥ −low else; 0 beyond",
  sources: ["Rethinking the Trust Region in LLM Reinforcement Learning", "verl 0.9.1"],
  params: z.object(dppoParams),
  create: (params) =>
    surrogate(params, (size) =>
      dppoOn(size, params, (gains, probability, then) =>
        gains ? probability - then <= params.high : probability - then >= -params.low,
      ),
    ),
});
