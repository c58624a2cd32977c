/** Draws for samplers that only give probabilities: one arm after the other, from the probabilities of the arms left. */
import { firstWhere } from "../../../../shared/lib/firstWhere.ts";
import type { Random } from "../../../lib/random.ts";
import type { Clock } from "../../../core/basics.ts";
import type { ArmBeliefs } from "../../../core/slots/arms.ts";
import type { Sampler } from "../../../core/slots/curriculum.ts";
import type { FastSampler } from "../../../core/slots/fastArms.ts";

/** Scales weights of at least 0 to a sum of 1 over the open arms; where all are 0, equal shares. */
export function normalise(weights: ArrayLike<number>, open: Uint8Array): Float64Array {
  const found = Float64Array.from(weights, (weight, arm) => (open[arm] === 0 ? 0 : weight));
  const sum = found.reduce((total, weight) => total + weight, 0);
  if (sum > 0) return found.map((weight) => weight / sum);
  const left = open.reduce((count, is) => count + is, 0);
  return found.map((_, arm) => (open[arm] === 0 ? 0 : 1 / left));
}

/** The arm on whose share of [0, 1) a number falls. A remainder of rounding belongs to the last arm with a share. */
function pick(cumulative: Float64Array, at: number): number {
  let arm = firstWhere(cumulative.length - 1, (before) => cumulative[before]! > at);
  while (arm > 0 && cumulative[arm] === cumulative[arm - 1]) arm--;
  return arm;
}

/** `n` arms, drawn independently. */
export function drawFrom(probabilities: Float64Array, n: number, random: Random): number[] {
  let sum = 0;
  const cumulative = probabilities.map((p) => (sum += p));
  return sum > 0 ? Array.from({ length: n }, (_, i) => pick(cumulative, random.fork(i).next() * sum)) : [];
}

/** The same beliefs where other arms are open. */
const withOpen = (beliefs: ArmBeliefs, open: Uint8Array): ArmBeliefs => {
  const { arms, size, estimates, rollouts, groups, priors, once, posterior } = beliefs;
  return { arms, size, estimates, rollouts, groups, priors, once, posterior, open };
};

const isFast = (sampler: Sampler): sampler is FastSampler => "draw" in sampler;

/** The fast form of any sampler. A plain one costs its `probabilities` for each draw. */
export function lifted(sampler: Sampler): FastSampler {
  if (isFast(sampler)) return sampler;
  const probabilities = (beliefs: ArmBeliefs, clock: Clock): Float64Array =>
    normalise(sampler.probabilities(beliefs, clock), beliefs.open);
  return {
    probabilities,
    draw: (pool, n, random, clock) => {
      if (!pool.once) return drawFrom(probabilities(pool, clock), n, random);
      const left = withOpen(pool, pool.open.slice());
      const drawn: number[] = [];
      for (let i = 0; i < n; i++) {
        const [arm] = drawFrom(probabilities(left, clock), 1, random.fork(i));
        if (arm === undefined) break;
        drawn.push(arm);
        left.open[arm] = 0;
      }
      return drawn;
    },
    learn: (...step) => sampler.learn?.(...step),
    save: () => sampler.save?.() ?? { json: null },
    load: (saved) => sampler.load?.(saved),
  };
}
