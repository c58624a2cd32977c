import { z } from "zod";
import { guidanceAmount } from "../../config/declaration.ts";
import type { HelpCurve, HelpedRound } from "../types.ts";

/** Success rate that a curve expects of a share of the help. */
export const expected = ({ chance, slope, middle }: HelpCurve, share: number): number =>
  chance + (1 - chance) / (1 + Math.exp(-slope * (share - middle)));

/** The share at which a curve expects the rate, in [0, 1]. */
export function shareFor(curve: HelpCurve, rate: number): number {
  const { chance, slope, middle } = curve;
  if (rate <= chance) return 0;
  if (rate >= 1) return 1;
  return Math.min(1, Math.max(0, middle - Math.log((1 - chance) / (rate - chance) - 1) / slope));
}

/** Log-posterior of a curve: binomial outcomes, and a weak prior that one round of few rollouts does not beat. */
function fitness(curve: HelpCurve, seen: readonly HelpedRound[]): number {
  const { chance, slope, middle } = curve;
  let sum = -((Math.log(slope / 8) / 0.7) ** 2) / 2 - ((middle - 0.5) / 0.5) ** 2 / 2 - chance / 0.1;
  for (const { share, rollouts, successes } of seen) {
    const p = Math.min(1 - 1e-9, Math.max(1e-9, expected(curve, share)));
    sum += successes * Math.log(p) + (rollouts - successes) * Math.log1p(-p);
  }
  return sum;
}

interface Box {
  readonly center: readonly [number, number, number];
  readonly reach: readonly [number, number, number];
}
const bounds = { chance: [0, 0.6], logSlope: [0, Math.log(60)], middle: [-1, 2] } as const;
const steps = [-1, -0.75, -0.5, -0.25, 0, 0.25, 0.5, 0.75, 1];
const within = (value: number, [low, high]: readonly [number, number]): number =>
  Math.min(high, Math.max(low, value));

/** The best of a grid over the box. */
function bestIn({ center, reach }: Box, seen: readonly HelpedRound[]): Box["center"] {
  let [best, found] = [Number.NEGATIVE_INFINITY, center];
  for (const i of steps)
    for (const j of steps)
      for (const k of steps) {
        const chance = within(center[0] + i * reach[0], bounds.chance);
        const logSlope = within(center[1] + j * reach[1], bounds.logSlope);
        const middle = within(center[2] + k * reach[2], bounds.middle);
        const value = fitness({ chance, slope: Math.exp(logSlope), middle }, seen);
        if (value > best) [best, found] = [value, [chance, logSlope, middle]];
      }
  return found;
}

/** The curve of three parameters that outcomes and prior make likeliest: a grid that closes in on its best point. */
export function fitCurve(seen: readonly HelpedRound[]): HelpCurve {
  let center: Box["center"] = [0.3, Math.log(8), 0.5];
  let reach: Box["reach"] = [0.3, 2.1, 1.5];
  for (let level = 0; level < 18; level++) {
    center = bestIn({ center, reach }, seen);
    reach = [reach[0] * 0.6, reach[1] * 0.6, reach[2] * 0.6];
  }
  const [chance, logSlope, middle] = center;
  return { chance, slope: Math.exp(logSlope), middle };
}

export const irt = guidanceAmount({
  name: "irt",
  summary:
    "Rollouts come in rounds; after each a logistic curve of three parameters is fitted to how often how much help led to success, and the next round gets the share at which the curve expects the target.",
  formula: "acc(h) = c + (1 − c)/(1 + exp(−k (h − b))), h* = acc⁻¹(target)",
  sources: [
    "Staying in the Sweet Spot: Responsive Reasoning Evolution via Capability-Adaptive Hint Scaffolding",
  ],
  status: "approximate",
  params: z.object({
    target: z
      .number()
      .gt(0)
      .lt(1)
      .default(0.5)
      .describe("Success rate aimed at; where a(1 − a) is greatest."),
    rounds: z
      .number()
      .int()
      .min(1)
      .default(4)
      .describe("Rounds that a group's helped rollouts are divided over."),
  }),
  create: ({ target, rounds }) => {
    // The members of a round ask about the same outcomes.
    const fitted = new WeakMap<readonly HelpedRound[], HelpCurve>();
    return {
      rounds,
      spread: "parts",
      share: ({ earlier }) => {
        const curve = fitted.get(earlier) ?? fitCurve(earlier);
        fitted.set(earlier, curve);
        return { share: shareFor(curve, target), curve };
      },
    };
  },
});
