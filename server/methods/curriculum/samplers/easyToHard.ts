import { z } from "zod";
import { schedulable, valueAt } from "../../../core/schedule.ts";
import { sampler, param } from "../../../core/declaration.ts";
import { independent } from "../fast/independent.ts";

/** A bell that moves from the first of the levels to the last, with a floor under each level. */
function gaussian(levels: number, t: number, exponent: number, sigma: number, least: number): number[] {
  const centre = t ** exponent * (levels - 1);
  const bell = Array.from({ length: levels }, (_, i) => Math.exp(-((i - centre) ** 2) / (2 * sigma ** 2)));
  const sum = bell.reduce((total, one) => total + one, 0);
  return bell.map((one) => least + (1 - levels * least) * (one / sum));
}

/** From weights that fall with the level to weights that rise with it. */
function cosine(levels: number, t: number, least: number): number[] {
  const all = (levels * (levels + 1)) / 2;
  const early = 0.5 * (1 + Math.cos(Math.PI * t));
  return Array.from({ length: levels }, (_, i) =>
    Math.max(least, (early * (levels - i) + (1 - early) * (i + 1)) / all),
  );
}

/** The place of each estimate among the different ones, from 0, and their number; unknown ones have the last. */
function placesOf(estimates: Float64Array, order: "ascending" | "descending"): [Uint32Array, number] {
  const sign = order === "ascending" ? 1 : -1;
  const keys = estimates.map((one) => (Number.isNaN(one) ? Number.POSITIVE_INFINITY : sign * one));
  const sorted = [...new Set(keys)].sort((a, b) => a - b);
  const places = new Map(sorted.map((key, place) => [key, place]));
  return [Uint32Array.from(keys, (key) => places.get(key)!), sorted.length];
}

export const easyToHard = sampler({
  name: "easy_to_hard",
  aliases: ["e2h"],
  summary:
    "Moves the draws from the easy levels to the hard ones over a number of steps; arms of equal estimates are one level.",
  formula:
    "gaussian: p(k) = m + (1 − K m) N_k/Σ N, N_k = exp(−(k − t^β (K − 1))²/2σ²); cosine: p(k) ∝ max(m, [a (K − k) + (1 − a)(k + 1)]/(K(K + 1)/2)), a = (1 + cos πt)/2; levels k from 0, m = 2/(K(K + 1))",
  sources: ["Curriculum Reinforcement Learning from Easy to Hard Tasks Improves LLM Reasoning"],
  takes: ["estimate"],
  failing: () => "even",
  params: z.object({
    shape: param(z.enum(["gaussian", "cosine"]).default("gaussian"), "How the draws move."),
    progress: param(
      schedulable(z.number().min(0).max(1)).default({
        schedule: "linear",
        from: 0,
        to: 1,
        over: 100,
        start: 0,
      }),
      "t: 0 at the first step, 1 at the last; over 1,600 steps in the source's Countdown.",
    ),
    exponent: param(
      z.number().positive().default(0.5),
      "β of the Gaussian: below 1 it moves fast at first, above 1 at last.",
    ),
    sigma: param(z.number().positive().default(0.5), "σ of the Gaussian, in levels."),
    least: param(
      z.number().min(0).max(1).optional(),
      "m: the least chance of a level. Default: 2/(K(K + 1)), as in the source's code.",
    ),
    order: param(
      z.enum(["ascending", "descending"]).default("ascending"),
      "Whether larger estimates are harder, as difficulties are, or easier, as success rates are.",
    ),
  }),
  create: ({ shape, progress, exponent, sigma, least, order }) =>
    independent(
      ["estimate"],
      ({ estimates, open }, [t = 0]) => {
        const [places, levels] = placesOf(estimates, order);
        const floor = Math.min(least ?? 2 / (levels * (levels + 1)), 1 / levels);
        const chances =
          shape === "cosine" ? cosine(levels, t, floor) : gaussian(levels, t, exponent, sigma, floor);
        const counts = new Float64Array(levels);
        places.forEach((place, of) => (counts[place]! += open[of]!));
        return Float64Array.from(places, (place) =>
          counts[place]! > 0 ? chances[place]! / counts[place]! : 0,
        );
      },
      (clock) => [valueAt(progress, clock)],
    ),
});
