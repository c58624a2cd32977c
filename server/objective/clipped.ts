import { z } from "zod";
import { objective } from "../config/declaration.ts";
import type { Objective, ObjectiveInput, Weighed } from "../seams.ts";
import { column } from "./column.ts";

function loss(input: ObjectiveInput, low: number, high: number): Weighed {
  const now = column(input.now, "logp", "the objective");
  const old = column(input.old, "logp", "the objective");
  const { advantages, factors, weights } = input;
  const gradient = new Float64Array(now.length);
  let total = 0;
  let trained = 0;
  let clips = 0;
  let largest = Number.NEGATIVE_INFINITY;
  for (let i = 0; i < now.length; i++) {
    if (weights[i] === 0) continue;
    const ratio = Math.exp(now[i]! - old[i]!);
    const advantage = advantages[i]!;
    trained += 1;
    largest = Math.max(largest, ratio);
    if (advantage === 0) continue; // An overflowed ratio times nothing is nothing.
    const acts = (advantage > 0 && ratio > 1 + high) || (advantage < 0 && ratio < 1 - low);
    if (acts) clips += 1;
    else gradient[i] = -factors[i]! * advantage * ratio;
    const used = acts ? Math.min(Math.max(ratio, 1 - low), 1 + high) : ratio;
    total -= factors[i]! * advantage * used;
  }
  return {
    loss: total,
    gradients: { logp: gradient },
    metrics: trained === 0 ? {} : { "update/clip_fraction": clips / trained, "update/ratio_max": largest },
  };
}

export const clipped = objective({
  name: "clipped",
  aliases: ["ppo"],
  summary: "Clipped importance-weighted surrogate, token by token; no gradient where the clip acts.",
  formula: "ℓ = −min(ρ A, clip(ρ, 1 − low, 1 + high) A), ρ = π / π_old",
  sources: [
    "Proximal Policy Optimization Algorithms",
    "DAPO: An Open-Source LLM Reinforcement Learning System at Scale",
  ],
  params: z.object({
    low: z.number().min(0).max(1).default(0.2).describe("How far the ratio may fall below 1."),
    high: z.number().min(0).default(0.2).describe("How far the ratio may rise above 1; DAPO: 0.28."),
  }),
  create: ({ low, high }): Objective => ({
    channels: ["logp"],
    unit: "sequence",
    loss: (input) => loss(input, low, high),
  }),
});
