/** Gaussian mixtures with full covariances, fitted by expectation–maximisation. */
import { drawFrom } from "../../fast/lifted.ts";
import { normal } from "../../../../lib/distributions.ts";
import { cholesky, dot, forward } from "../../../../lib/algebra/linear.ts";
import type { Random } from "../../../../lib/random.ts";

export interface Component {
  readonly weight: number;
  readonly mean: Float64Array;
  /** Lower triangle L with covariance L Lᵀ, row after row. */
  readonly factor: Float64Array;
}
export type Mixture = readonly Component[];
type Points = readonly Float64Array[];

/** Added to every variance, as scikit-learn does. */
const regularisation = 1e-6;

/** log of the component's density, its weight included. */
export function logDensity({ weight, mean, factor }: Component, point: ArrayLike<number>): number {
  const d = mean.length;
  const y = forward(
    factor,
    mean.map((m, i) => point[i]! - m),
  );
  let logDeterminant = 0;
  for (let i = 0; i < d; i++) logDeterminant += Math.log(factor[i * d + i]!);
  return Math.log(weight) - 0.5 * (d * Math.log(2 * Math.PI) + dot(y, y)) - logDeterminant;
}

/** L Lᵀ, row by row. */
export const covarianceOf = ({ mean: { length: d }, factor }: Component): number[][] =>
  Array.from({ length: d }, (_, a) =>
    Array.from({ length: d }, (_, b) =>
      dot(factor.subarray(a * d, a * d + d), factor.subarray(b * d, b * d + d)),
    ),
  );

/** log Σ exp. */
function logSum(values: ArrayLike<number>): number {
  let top = Number.NEGATIVE_INFINITY;
  for (let i = 0; i < values.length; i++) top = Math.max(top, values[i]!);
  let sum = 0;
  for (let i = 0; i < values.length; i++) sum += Math.exp(values[i]! - top);
  return top + Math.log(sum);
}

const logLikelihood = (mixture: Mixture, points: Points): number =>
  points.reduce((sum, point) => sum + logSum(mixture.map((one) => logDensity(one, point))), 0);

/** 2 · free parameters − 2 · log likelihood. */
export function akaike(mixture: Mixture, points: Points): number {
  const d = points[0]?.length ?? 0;
  const parameters = mixture.length * (d + (d * (d + 1)) / 2) + mixture.length - 1;
  return 2 * parameters - 2 * logLikelihood(mixture, points);
}

/** A component of weighted points. */
function component(points: Points, shares: Float64Array): Component {
  const d = points[0]!.length;
  const total = shares.reduce((sum, r) => sum + r, 0) + 1e-15;
  const mean = new Float64Array(d);
  points.forEach((point, i) => {
    for (let a = 0; a < d; a++) mean[a]! += (shares[i]! * point[a]!) / total;
  });
  const covariance = new Float64Array(d * d);
  points.forEach((point, i) => {
    for (let a = 0; a < d; a++)
      for (let b = 0; b < d; b++)
        covariance[a * d + b]! += (shares[i]! * (point[a]! - mean[a]!) * (point[b]! - mean[b]!)) / total;
  });
  for (let a = 0; a < d; a++) covariance[a * d + a]! += regularisation;
  return { weight: total / points.length, mean, factor: cholesky(covariance, d) };
}

const distance = (a: Float64Array, b: Float64Array): number =>
  a.reduce((sum, x, i) => sum + (x - b[i]!) ** 2, 0);

/** k-means from well-spread points (k-means++): the cluster of each point. */
function clusters(points: Points, k: number, random: Random): Int32Array {
  let centres: Float64Array[] = [points[random.integer(points.length)]!];
  while (centres.length < k) {
    const gaps = Float64Array.from(points, (point) => Math.min(...centres.map((c) => distance(point, c))));
    const [next] = drawFrom(gaps, 1, random.fork("centre", centres.length));
    centres.push(points[next ?? random.integer(points.length)]!);
  }
  let labels = new Int32Array(points.length);
  for (let round = 0; round < 50; round++) {
    const now = Int32Array.from(points, (point) => {
      let best = 0;
      for (let c = 1; c < k; c++)
        if (distance(point, centres[c]!) < distance(point, centres[best]!)) best = c;
      return best;
    });
    if (round > 0 && now.every((label, i) => label === labels[i])) break;
    labels = now;
    centres = centres.map((centre, c) => {
      const own = points.filter((_, i) => labels[i] === c);
      return own.length === 0
        ? centre
        : centre.map((_, a) => own.reduce((sum, point) => sum + point[a]!, 0) / own.length);
    });
  }
  return labels;
}

/** Maximum likelihood by expectation–maximisation, until a round gains less than 1e−3 a point or for 100 rounds. */
export function fitMixture(points: Points, k: number, random: Random): Mixture {
  const labels = clusters(points, k, random);
  let shares = Array.from({ length: k }, (_, c) => Float64Array.from(labels, (label) => Number(label === c)));
  let mixture: Mixture = [];
  for (let round = 0, before = Number.NEGATIVE_INFINITY; round < 100; round++) {
    mixture = shares.map((own) => component(points, own));
    const logs = points.map((point) => mixture.map((one) => logDensity(one, point)));
    const sums = logs.map(logSum);
    shares = mixture.map((_, c) => Float64Array.from(logs, (row, i) => Math.exp(row[c]! - sums[i]!)));
    const now = sums.reduce((sum, x) => sum + x, 0) / points.length;
    if (now - before < 1e-3) break;
    before = now;
  }
  return mixture;
}

/** Of 2 … k components the mixture of least AIC. */
export function bestMixture(points: Points, counts: readonly number[], random: Random): Mixture {
  const fits = counts.map((k) => fitMixture(points, k, random.fork("components", k)));
  const costs = fits.map((mixture) => akaike(mixture, points));
  return fits[costs.indexOf(Math.min(...costs))] ?? [];
}

/** A draw from a component. */
export function drawComponent({ mean, factor }: Component, random: Random): Float64Array {
  const d = mean.length;
  const noise = Float64Array.from(mean, () => normal(random));
  return mean.map((m, i) => m + dot(factor.subarray(i * d, i * d + i + 1), noise));
}
