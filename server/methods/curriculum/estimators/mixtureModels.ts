/** Models of the score of a mixture of arms, fitted to pilot runs. */
import { cholesky, dot, forward, solve } from "../../../lib/algebra/linear.ts";

export interface Pilot {
  /** Shares, one an arm; sum 1. */
  readonly shares: readonly number[];
  readonly score: number;
}
export interface Predicted {
  readonly mean: number;
  /** 0 where the model has none. */
  readonly spread: number;
}
export type MixtureModel = (shares: readonly number[]) => Predicted;

/** w and every product w_i w_j, i ≤ j: on the simplex these span all quadratics, the constant included. */
const quadraticTerms = (w: readonly number[]): number[] => [
  ...w,
  ...w.flatMap((one, i) => w.slice(i).map((other) => one * other)),
];

/** Least squares on those terms, with a ridge that makes it unique. */
export function quadratic(pilots: readonly Pilot[], ridge: number): MixtureModel {
  const rows = pilots.map(({ shares }) => quadraticTerms(shares));
  const n = rows[0]?.length ?? 0;
  const normal = new Float64Array(n * n);
  const right = new Float64Array(n);
  rows.forEach((row, at) => {
    for (let i = 0; i < n; i++) {
      right[i]! += row[i]! * pilots[at]!.score;
      for (let j = 0; j < n; j++) normal[i * n + j]! += row[i]! * row[j]!;
    }
  });
  for (let i = 0; i < n; i++) normal[i * n + i]! += ridge;
  const weights = solve(cholesky(normal, n), right);
  return (shares) => ({ mean: dot(weights, quadraticTerms(shares)), spread: 0 });
}

/** A Gaussian process with kernel σ² exp(−|a − b|²/2ℓ²), around the mean of the scores. */
export function gaussianProcess(
  pilots: readonly Pilot[],
  { scale, noise }: { readonly scale: number; readonly noise: number },
): MixtureModel {
  const n = pilots.length;
  const centre = pilots.reduce((sum, { score }) => sum + score, 0) / n;
  const variance = Math.max(1e-12, pilots.reduce((sum, { score }) => sum + (score - centre) ** 2, 0) / n);
  const kernel = (a: readonly number[], b: readonly number[]): number =>
    variance * Math.exp(-a.reduce((sum, x, i) => sum + (x - b[i]!) ** 2, 0) / (2 * scale ** 2));
  const gram = Float64Array.from({ length: n * n }, (_, at) => {
    const [i, j] = [Math.floor(at / n), at % n];
    return kernel(pilots[i]!.shares, pilots[j]!.shares) + (i === j ? noise * variance : 0);
  });
  const factor = cholesky(gram, n);
  const weights = solve(
    factor,
    pilots.map(({ score }) => score - centre),
  );
  return (shares) => {
    const near = pilots.map((pilot) => kernel(shares, pilot.shares));
    const v = forward(factor, near);
    return { mean: centre + dot(near, weights), spread: Math.sqrt(Math.max(0, variance - dot(v, v))) };
  };
}
