import { z } from "zod";
import { budget, param } from "../../../core/declaration.ts";

/** Whole numbers in proportion to weights, none below `least`, of the given sum (largest remainders). */
export function apportion(weights: readonly number[], sum: number, least: number): number[] {
  const all = weights.reduce((total, w) => total + w, 0);
  const free = Math.max(0, sum - least * weights.length);
  const exact = weights.map((w) => (all > 0 ? (free * w) / all : free / weights.length));
  const whole = exact.map(Math.floor);
  const missing = free - whole.reduce((total, n) => total + n, 0);
  const order = [...exact.keys()].sort((a, b) => exact[b]! - whole[b]! - (exact[a]! - whole[a]!) || a - b);
  for (const i of order.slice(0, missing)) whole[i]! += 1;
  return whole.map((n) => n + least);
}

/** √[p(1−p)²G_c + p²(1−p)G_w − p²(1−p)²(g_c − g_w)²], g the norms of the gradients of right and wrong answers, G = g². */
export function gradientDeviation(p: number, right: number, wrong: number): number {
  const q = 1 - p;
  return Math.sqrt(
    Math.max(0, p * q * q * right ** 2 + p * p * q * wrong ** 2 - (p * q * (right - wrong)) ** 2),
  );
}

export const gradientVariance = budget({
  name: "gradient_variance",
  summary:
    "More rollouts for tasks whose gradient varies more, fewer for the others; the total stays the same.",
  formula:
    "n_x ∝ √[p(1−p)² g_c² + p²(1−p) g_w² − p²(1−p)²(g_c − g_w)²], Σ n_x = `rollout.group` · tasks; with g_c = g_w = 1 it is √(p(1−p))",
  sources: ["CurES: From Gradient Analysis to Efficient Curriculum Learning for Reasoning LLMs"],
  status: "approximate",
  takes: ["rate", "estimate"],
  params: z.object({
    right: param(z.number().min(0).default(1), "g_c, the typical norm of a right answer's gradient."),
    wrong: param(z.number().min(0).default(1), "g_w, the same of a wrong one."),
    least: param(z.number().int().min(1).default(2), "Rollouts of each task at least."),
  }),
  create: ({ right, wrong, least }) => ({
    rollouts: (arms, group, estimate) => {
      const deviations = arms.map((arm) => gradientDeviation(rateOf(estimate(arm)), right, wrong));
      return apportion(deviations, group * arms.length, Math.min(least, group));
    },
  }),
});

/** A rate in [0, 1]; ½ where it is unknown. */
const rateOf = (estimate: number): number =>
  Number.isNaN(estimate) ? 0.5 : Math.min(1, Math.max(0, estimate));
