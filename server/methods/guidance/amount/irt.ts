import { z } from "zod";
import { guidanceAmount, param } from "../../../core/declaration.ts";
import type { Saved } from "../../../core/basics.ts";
import type { HelpCurve } from "../../../core/help.ts";
import type { HelpedRound } from "../../../core/slots/guidance.ts";

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

/** Of a curve: how well it fits, the more the better. */
type Fitness = (curve: HelpCurve, seen: readonly HelpedRound[]) => number;

/** How far a curve is from a middling one: of those that fit alike the nearest is taken. */
const strangeness = ({ chance, slope, middle }: HelpCurve): number =>
  (Math.log(slope / 8) / 0.7) ** 2 / 2 + ((middle - 0.5) / 0.5) ** 2 / 2 + chance / 0.1;

/** Log-posterior of a curve: binomial outcomes, and a weak prior that one round of few rollouts does not beat. */
function posterior(curve: HelpCurve, seen: readonly HelpedRound[]): number {
  let sum = -strangeness(curve);
  for (const { share, rollouts, successes } of seen) {
    const p = Math.min(1 - 1e-9, Math.max(1e-9, expected(curve, share)));
    sum += successes * Math.log(p) + (rollouts - successes) * Math.log1p(-p);
  }
  return sum;
}

/** Success rates by share: rounds of one share as their mean; where a share was not tried, 0 at no help and 1 at all of it. */
function rates(seen: readonly HelpedRound[]): { readonly share: number; readonly rate: number }[] {
  const rateOf = ({ rollouts, successes }: HelpedRound): number => successes / Math.max(1, rollouts);
  const asked = seen.map(({ share }) => {
    const alike = seen.filter((other) => other.share === share);
    return { share, rate: alike.reduce((sum, one) => sum + rateOf(one), 0) / alike.length };
  });
  const ends = [0, 1].filter((end) => asked.every(({ share }) => share !== end));
  return [...asked, ...ends.map((end) => ({ share: end, rate: end }))];
}

/** Least squares over the rates. A weight too small to move the fit chooses among curves that fit alike. */
function squares(curve: HelpCurve, seen: readonly HelpedRound[]): number {
  const errors = rates(seen).map(({ share, rate }) => (expected(curve, share) - rate) ** 2);
  return -errors.reduce((sum, error) => sum + error, 0) - 1e-6 * strangeness(curve);
}
const fits = { posterior, least_squares: squares } as const;
type CurveFit = keyof typeof fits;

interface Box {
  readonly center: readonly [number, number, number];
  readonly reach: readonly [number, number, number];
}
const bounds = {
  posterior: { chance: [0, 0.6], logSlope: [0, Math.log(60)], middle: [-1, 2] },
  least_squares: { chance: [0, 1], logSlope: [0, Math.log(50)], middle: [-1, 2] },
} as const;
const steps = [-1, -0.75, -0.5, -0.25, 0, 0.25, 0.5, 0.75, 1];
const inside = (value: number, [low, high]: readonly [number, number]): number =>
  Math.min(high, Math.max(low, value));

/** The best of a grid over the box. */
function bestIn({ center, reach }: Box, seen: readonly HelpedRound[], fit: CurveFit): Box["center"] {
  const [fitness, within]: [Fitness, (typeof bounds)[CurveFit]] = [fits[fit], bounds[fit]];
  let [best, found] = [Number.NEGATIVE_INFINITY, center];
  for (const i of steps)
    for (const j of steps)
      for (const k of steps) {
        const chance = inside(center[0] + i * reach[0], within.chance);
        const logSlope = inside(center[1] + j * reach[1], within.logSlope);
        const middle = inside(center[2] + k * reach[2], within.middle);
        const value = fitness({ chance, slope: Math.exp(logSlope), middle }, seen);
        if (value > best) [best, found] = [value, [chance, logSlope, middle]];
      }
  return found;
}

/**
 * The curve of three parameters that fits best: a grid that closes in on its best point.
 * posterior: what outcomes and prior make likeliest; least_squares: the nearest to the rates of the rounds.
 */
export function fitCurve(seen: readonly HelpedRound[], fit: CurveFit = "posterior"): HelpCurve {
  let center: Box["center"] = [fit === "posterior" ? 0.3 : 0.5, Math.log(8), 0.5];
  let reach: Box["reach"] = [center[0], 2.1, 1.5];
  for (let level = 0; level < 18; level++) {
    center = bestIn({ center, reach }, seen, fit);
    reach = [reach[0] * 0.6, reach[1] * 0.6, reach[2] * 0.6];
  }
  const [chance, logSlope, middle] = center;
  return { chance, slope: Math.exp(logSlope), middle };
}

const memory = z.record(z.string(), z.number());

export const irt = guidanceAmount({
  name: "irt",
  summary:
    "Generates rollouts in rounds. After each round it fits a three-parameter logistic curve of success rate against help; the next round gets the share at which the curve predicts the target.",
  formula: "acc(h) = c + (1 − c)/(1 + exp(−k (h − b))), h* = acc⁻¹(target)",
  sources: [
    "Staying in the Sweet Spot: Responsive Reasoning Evolution via Capability-Adaptive Hint Scaffolding",
  ],
  params: z.object({
    target: param(z.number().gt(0).lt(1).default(0.5), "Target success rate; a(1 − a) is largest at 0.5."),
    rounds: param(
      z.number().int().min(1).default(4),
      "Rounds that a group's helped rollouts are split into.",
    ),
    fit: param(
      z.enum(["posterior", "least_squares"]).default("posterior"),
      "posterior: the likeliest curve under a prior, which steadies the fit while rollouts are few; least_squares: the curve nearest to the rounds' success rates, taking 0 at no help and 1 at full help where these were not tried (SEELE).",
    ),
    first: param(
      z.number().min(0).max(1).nullable().default(null),
      "Share in a group's first round; null: what the curve predicts before any data.",
    ),
    remember: param(
      z.boolean().default(false),
      "A task that is drawn again starts with the share of its last round.",
    ),
  }),
  create: ({ target, rounds, fit, first, remember }) => {
    // The members of a round ask about the same outcomes.
    const fitted = new WeakMap<readonly HelpedRound[], HelpCurve>();
    const last = new Map<string, number>();
    const curveOf = (earlier: readonly HelpedRound[]): HelpCurve => {
      const curve = fitted.get(earlier) ?? fitCurve(earlier, fit);
      fitted.set(earlier, curve);
      return curve;
    };
    const began = (name: string): number | undefined => last.get(name) ?? first ?? undefined;
    return {
      rounds,
      spread: "parts",
      share: ({ task, round, earlier }) => {
        const name = `${task.source}/${task.id}`;
        const begin = round === 0 ? began(name) : undefined;
        const curve = begin === undefined ? curveOf(earlier) : undefined;
        const share = begin ?? shareFor(curve!, target);
        if (remember) last.set(name, share);
        return { share, ...(curve && { curve }) };
      },
      ...(remember && {
        save: () => ({ json: Object.fromEntries(last) }),
        load: ({ json }: Saved) => {
          last.clear();
          for (const [name, share] of Object.entries(memory.parse(json))) last.set(name, share);
        },
      }),
    };
  },
});
