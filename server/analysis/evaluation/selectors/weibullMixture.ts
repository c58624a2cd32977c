/** Two Weibull distributions, mixed, fitted to values by their likelihood. */
import { minimized } from "../../../lib/boundedMinimum.ts";
import { logGamma } from "../../../lib/distributions.ts";

interface Mixture {
  /** The chance that a value is of the component with the greater mean. */
  upper(value: number): number;
}

/** Weight of the first component, and shape and scale of either. */
type Parameters = readonly [weight: number, k1: number, lambda1: number, k2: number, lambda2: number];

/** Where the released code of RPC begins, and what it keeps to. */
const start: Parameters = [0.5, 1, 1, 1.5, 2];
const bounds = [
  [0.2, 0.8],
  [0.01, Number.POSITIVE_INFINITY],
  [0.01, Number.POSITIVE_INFINITY],
  [0.01, Number.POSITIVE_INFINITY],
  [0.01, Number.POSITIVE_INFINITY],
] as const;

/** Of a Weibull distribution: (k/λ)(x/λ)^(k−1) exp(−(x/λ)^k). */
export const density = (x: number, k: number, lambda: number): number =>
  (k / lambda) * (x / lambda) ** (k - 1) * Math.exp(-((x / lambda) ** k));

/** @param values positive */
export function weibullMixture(values: readonly number[]): Mixture {
  const found = minimized((at) => loss(values, at as unknown as Parameters), start, bounds);
  const [weight, k1, lambda1, k2, lambda2] = found as unknown as Parameters;
  const firstIsUpper = meanOf(k1, lambda1) >= meanOf(k2, lambda2);
  return {
    upper: (value) => {
      const [one, other] = [weight * density(value, k1, lambda1), (1 - weight) * density(value, k2, lambda2)];
      return (firstIsUpper ? one : other) / (one + other);
    },
  };
}

const meanOf = (k: number, lambda: number): number => lambda * Math.exp(logGamma(1 + 1 / k));

/** The negative log-likelihood with its gradient. */
function loss(
  values: readonly number[],
  [weight, k1, lambda1, k2, lambda2]: Parameters,
): { readonly value: number; readonly gradient: readonly number[] } {
  let value = 0;
  const gradient = [0, 0, 0, 0, 0];
  for (const x of values) {
    const [first, second] = [density(x, k1, lambda1), density(x, k2, lambda2)];
    const mixed = weight * first + (1 - weight) * second;
    value -= Math.log(mixed);
    gradient[0]! -= (first - second) / mixed;
    const shares = [(weight * first) / mixed, ((1 - weight) * second) / mixed] as const;
    [[k1, lambda1] as const, [k2, lambda2] as const].forEach(([k, lambda], component) => {
      const log = Math.log(x / lambda);
      const power = (x / lambda) ** k;
      gradient[1 + 2 * component]! -= shares[component]! * (1 / k + log - power * log);
      gradient[2 + 2 * component]! -= shares[component]! * (k / lambda) * (power - 1);
    });
  }
  return { value, gradient };
}
