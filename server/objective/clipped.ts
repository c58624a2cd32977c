import { z } from "zod";
import { objective } from "../config/declaration.ts";
import type { ObjectiveInput } from "../seams.ts";
import type { Block } from "./ratio.ts";
import { ratioParams } from "./ratio.ts";
import { clipMetrics, Rule, surrogate, type Method } from "./surrogate.ts";

interface Clip {
  readonly low: number;
  readonly high: number;
  readonly dual: number | null;
  readonly delta: number | null;
}

function clippedOn(input: ObjectiveInput, clip: Clip): Method {
  const size = input.weights.length;
  const [low, high] = [new Rule("clip_low", size), new Rule("clip_high", size)];
  const dual = new Rule("dual_clip", size);
  return {
    by: "log_ratio",
    rules: [low, high, dual],
    metrics: (trained) => ({
      ...clipMetrics(low, high, trained),
      ...(clip.dual === null && clip.delta === null ? {} : { "update/dual_clip": dual.count / trained }),
    }),
    block: (block, slope) => blockLoss(input, clip, block, slope, { low, high, dual }),
  };
}

function blockLoss(
  { advantages, factors, weights }: ObjectiveInput,
  clip: Clip,
  { from, to, ratio }: Block,
  slope: Float64Array,
  rules: { readonly low: Rule; readonly high: Rule; readonly dual: Rule },
): number {
  const [floor, ceiling] = [1 - clip.low, 1 + clip.high];
  // Gains are held at the ceiling; losses grow with the ratio up to the cap, where one is set.
  const cap = clip.dual ?? Number.POSITIVE_INFINITY;
  const most = clip.delta ?? Number.POSITIVE_INFINITY;
  const gainMost = Math.min(ceiling, most);
  let loss = 0;
  for (let i = from; i < to; i++) {
    if (weights[i] === 0) continue;
    const rho = ratio[i - from]!;
    const advantage = advantages[i]!;
    let used = rho;
    if (advantage > 0) {
      if (rho > gainMost) {
        used = gainMost;
        rules.high.act(i);
      }
    } else if (advantage < 0) {
      if (rho < floor) {
        used = floor;
        rules.low.act(i);
      } else if (rho > most && most >= ceiling) {
        used = most;
        rules.dual.act(i);
      } else if (rho > ceiling && most < ceiling) {
        // The capped ratio lies inside the clip, which then has the last word.
        used = ceiling;
        rules.dual.act(i);
      }
      if (used > cap) {
        used = cap;
        rules.dual.act(i);
      }
    } else continue; // An overflowed ratio times nothing is nothing.
    const part = factors[i]! * advantage * used;
    loss -= part;
    if (used === rho) slope[i] = -part;
  }
  return loss;
}

export const clipped = objective({
  name: "clipped",
  aliases: ["ppo", "vanilla"],
  summary: "Clipped importance-weighted surrogate; no gradient where the clip acts.",
  formula:
    "ℓ = −min(ρ A, clip(ρ, 1 − low, 1 + high) A), ρ = π / π_anchor; A < 0 with `dual`: −max(that minimum, dual · A)",
  sources: [
    "Proximal Policy Optimization Algorithms",
    "DAPO: An Open-Source LLM Reinforcement Learning System at Scale",
    "Mastering Complex Control in MOBA Games with Deep Reinforcement Learning",
    "Group Sequence Policy Optimization",
  ],
  params: z.object({
    low: z.number().min(0).max(1).default(0.2).describe("How far the ratio may fall below 1."),
    high: z.number().min(0).default(0.2).describe("How far the ratio may rise above 1; DAPO: 0.28."),
    dual: z
      .number()
      .gt(1)
      .nullable()
      .default(null)
      .describe("Dual clip: where the advantage is negative, the largest ratio that counts; verl: 3."),
    delta: z
      .number()
      .positive()
      .nullable()
      .default(null)
      .describe(
        "Cap on the unclipped ratio, whatever the advantage's sign (TRL); above 1 + high it equals `dual`.",
      ),
    ...ratioParams,
  }),
  create: (params) => surrogate(params, (input) => clippedOn(input, params)),
});
