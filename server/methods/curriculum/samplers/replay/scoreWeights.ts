/** Weights of levels by their scores, as prioritised level replay transforms them. */
import { ranked } from "../../../../lib/ordering.ts";
import { largest } from "../../numbers.ts";

export const transforms = ["rank", "power", "softmax", "eps_greedy", "max", "constant"] as const;
export type Transform = (typeof transforms)[number];

interface How {
  readonly transform: Transform;
  readonly temperature: number;
  readonly epsilon: number;
  readonly staleness: number;
}

/** Numbers of at least 0 as shares of their sum; all 0 where the sum is. */
export function scaled(weights: Float64Array): Float64Array {
  const sum = weights.reduce((total, weight) => total + weight, 0);
  return sum > 0 ? weights.map((weight) => weight / sum) : weights;
}

/** Numbers of at least 0 to a power, up to a common factor, by which the largest is 1: none is beyond all numbers. */
export function raised(numbers: Float64Array, exponent: number): Float64Array {
  const top = largest(numbers);
  return top > 0 ? numbers.map((one) => (one / top) ** exponent) : numbers;
}

/** (1/rank)^(1/β), rank 1 for the largest; of equal scores the later one comes first, as in the released code. */
function byRank(scores: Float64Array, temperature: number): Float64Array {
  const order = ranked(scores).reverse();
  const weights = new Float64Array(scores.length);
  order.forEach((of, place) => (weights[of] = (1 / (place + 1)) ** (1 / temperature)));
  return weights;
}

/**
 * The weight of each score, up to a common factor.
 * @param all how many levels there are, seen or not
 */
export function scoreWeights(scores: Float64Array, all: number, how: How): Float64Array {
  const top = largest(scores);
  switch (how.transform) {
    case "rank":
      return byRank(scores, how.temperature);
    case "power": {
      // Where nothing goes by age, a score of 0 keeps a little.
      const least = how.staleness > 0 ? 0 : 1e-3;
      return raised(
        scores.map((score) => Math.max(0, score) + least),
        1 / how.temperature,
      );
    }
    case "softmax":
      return scores.map((score) => Math.exp((score - top) / how.temperature));
    case "eps_greedy": {
      const best = scores.indexOf(top);
      return scores.map((_, of) => how.epsilon / all + (of === best ? 1 - how.epsilon : 0));
    }
    case "max":
      return scores.map((score) => Number(score === top));
    case "constant":
      return scores.map(() => 1);
  }
}
