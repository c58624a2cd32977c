/**
 * Where a run's score is going: a sigmoid of the compute spent, R(C) = R₀ + (A − R₀)/(1 + (C_mid/C)^B), with the asymptote A, the
 * efficiency B and the midpoint C_mid. Source: "The Art of Scaling Reinforcement Learning Compute for LLMs" (ScaleRL). All sigmoids of
 * a grid are weighed by how well they fit, so that a curve which has not bent yet has a wide band. Pure.
 */
import { mean } from "../lib/mean.ts";

export interface ForecastPoint {
  /** Compute so far, such as steps; positive. */
  readonly x: number;
  readonly y: number;
}

export interface Band {
  readonly low: number;
  readonly middle: number;
  readonly high: number;
}

/** Probability inside a band. */
export const bandLevel = 0.8;

export interface Forecast {
  /** Where the curve ends. */
  readonly asymptote: Band;
  /** How steeply it climbs, and the compute at which half of the way is done. */
  readonly efficiency: Band;
  readonly midpoint: Band;
  /** The curve at some compute: what a mean of many points there will be. */
  at(x: number): Band;
  /** The curve at `to` less the curve at `from`. */
  gain(from: number, to: number): Band;
  /** P(this asymptote > the other's). */
  above(other: Forecast): number;
  /** Asymptotes with their weights, which sum to 1. */
  readonly asymptotes: readonly Weighted[];
}

interface Weighted {
  readonly value: number;
  readonly weight: number;
}

interface Sigmoid {
  readonly start: number;
  readonly asymptote: number;
  readonly efficiency: number;
  readonly midpoint: number;
  readonly weight: number;
}

/** Points are gathered into so many, each a mean, so that noise from step to step is told apart from the course. */
const mostPoints = 24;
/** Values that a forecast takes. */
export const leastValues = 6;
/** Independent points that are believed in at least. */
const least = 4;
/** Of the grid. */
const [asymptotes, efficiencies, midpoints] = [41, 9, 33];
/** Midpoints from the first point's compute to so many times the last one's. */
const farthest = 30;
/** Sigmoids with less than this share of the best one's weight say nothing. */
const negligible = 1e-6;

/**
 * @param points ascending in x
 * @param range of the score, where it has one: asymptotes are inside
 * @returns undefined for fewer than 6 points, or where all are the same
 */
export function forecast(
  points: readonly ForecastPoint[],
  range?: readonly [number, number],
): Forecast | undefined {
  const own = gathered(points.filter(({ x, y }) => x > 0 && Number.isFinite(y)));
  if (own.length < leastValues) return undefined;
  const ys = own.map(({ y }) => y);
  const [lowest, highest] = [Math.min(...ys), Math.max(...ys)];
  if (highest === lowest) return undefined;
  const span = highest - lowest;
  const grid: Grid = {
    asymptote: range ?? [lowest - 2 * span, highest + 2 * span],
    efficiency: [0.5, 6],
    midpoint: [own[0]!.x, farthest * own.at(-1)!.x],
  };
  return described(weighed(own, within(grid, weighed(own, grid)), grid.asymptote));
}

type Ends = readonly [low: number, high: number];
type Grid = Readonly<Record<"asymptote" | "efficiency" | "midpoint", Ends>>;

/** The part of a grid that has the weight, with a margin: what fits is then told apart more finely. */
function within(grid: Grid, sigmoids: readonly Sigmoid[]): Grid {
  const heavy = sigmoids.filter(({ weight }) => weight > negligible);
  const ends = (name: keyof Grid, margin: (value: number, way: 1 | -1) => number): Ends => {
    const values = heavy.map((sigmoid) => sigmoid[name]);
    const [low, high] = grid[name];
    return [Math.max(low, margin(Math.min(...values), -1)), Math.min(high, margin(Math.max(...values), 1))];
  };
  const step = (grid.asymptote[1] - grid.asymptote[0]) / (asymptotes - 1);
  const byFactor =
    ([low, high]: Ends, count: number) =>
    (value: number, way: 1 | -1): number =>
      value * (high / low) ** (way / (count - 1));
  return {
    asymptote: ends("asymptote", (value, way) => value + way * step),
    efficiency: ends("efficiency", byFactor(grid.efficiency, efficiencies)),
    midpoint: ends("midpoint", byFactor(grid.midpoint, midpoints)),
  };
}

/** Means of as many neighbours each. */
function gathered(points: readonly ForecastPoint[]): readonly ForecastPoint[] {
  const parts = Math.min(mostPoints, points.length);
  return Array.from({ length: parts }, (_, part) => {
    const own = points.slice(
      Math.floor((part * points.length) / parts),
      Math.floor(((part + 1) * points.length) / parts),
    );
    return { x: mean(own.map(({ x }) => x)), y: mean(own.map(({ y }) => y)) };
  });
}

const spaced = (from: number, to: number, count: number): number[] =>
  Array.from({ length: count }, (_, i) => from + ((to - from) * i) / (count - 1));
const spacedByFactor = (from: number, to: number, count: number): number[] =>
  spaced(Math.log(from), Math.log(to), count).map(Math.exp);

const share = (x: number, midpoint: number, efficiency: number): number =>
  1 / (1 + (midpoint / x) ** efficiency);

/**
 * The noise is unknown: with the prior 1/σ it leaves SSE^(−(n−1)/2) as the likelihood of a sigmoid, whose start is the best one.
 */
function weighed(
  points: readonly ForecastPoint[],
  grid: Grid,
  starts: Ends = grid.asymptote,
): readonly Sigmoid[] {
  const found: (Omit<Sigmoid, "weight"> & { readonly error: number })[] = [];
  for (const midpoint of spacedByFactor(...grid.midpoint, midpoints))
    for (const efficiency of spacedByFactor(...grid.efficiency, efficiencies)) {
      const shares = points.map(({ x }) => share(x, midpoint, efficiency));
      for (const asymptote of spaced(...grid.asymptote, asymptotes)) {
        const { start, error } = started(points, shares, asymptote);
        if (start < starts[0] || start > starts[1]) continue;
        found.push({ start, asymptote, efficiency, midpoint, error });
      }
    }
  const best = found.reduce((least, one) => (one.error < least.error ? one : least));
  const power = (independent(points, best) - 1) / 2;
  const logOf = ({ error }: { readonly error: number }): number => power * Math.log(best.error / error);
  const kept = found.filter((one) => logOf(one) > Math.log(negligible));
  const total = kept.reduce((sum, one) => sum + Math.exp(logOf(one)), 0);
  return kept.map(({ error, ...sigmoid }) => ({ ...sigmoid, weight: Math.exp(logOf({ error })) / total }));
}

/** How many independent points there are: neighbours that stray together are not (an AR(1) of the residuals). */
function independent(points: readonly ForecastPoint[], best: Omit<Sigmoid, "weight">): number {
  const residuals = points.map(({ x, y }) => y - valueOf(best, x));
  const square = residuals.reduce((sum, one) => sum + one * one, 0);
  const lagged = residuals.slice(1).reduce((sum, one, i) => sum + one * residuals[i]!, 0);
  const correlation = square === 0 ? 0 : Math.min(0.8, Math.max(0, lagged / square));
  return Math.max(least, (points.length * (1 - correlation)) / (1 + correlation));
}

const valueOf = ({ start, asymptote, efficiency, midpoint }: Omit<Sigmoid, "weight">, x: number): number =>
  start + (asymptote - start) * share(x, midpoint, efficiency);

/** The start by least squares: y − A·s = R₀·(1 − s). */
function started(
  points: readonly ForecastPoint[],
  shares: readonly number[],
  asymptote: number,
): { readonly start: number; readonly error: number } {
  let [across, square] = [0, 0];
  for (let i = 0; i < points.length; i++) {
    const rest = 1 - shares[i]!;
    across += rest * (points[i]!.y - asymptote * shares[i]!);
    square += rest * rest;
  }
  const start = across / square;
  let error = 0;
  for (let i = 0; i < points.length; i++)
    error += (points[i]!.y - start - (asymptote - start) * shares[i]!) ** 2;
  return { start, error: Math.max(error, Number.MIN_VALUE) };
}

function described(sigmoids: readonly Sigmoid[]): Forecast {
  const band = (of: (sigmoid: Sigmoid) => number): Band =>
    bandOf(sigmoids.map((sigmoid) => ({ value: of(sigmoid), weight: sigmoid.weight })));
  const asymptotes = weightedValues(sigmoids.map(({ asymptote, weight }) => ({ value: asymptote, weight })));
  return {
    asymptote: band(({ asymptote }) => asymptote),
    efficiency: band(({ efficiency }) => efficiency),
    midpoint: band(({ midpoint }) => midpoint),
    at: (x) => band((sigmoid) => valueOf(sigmoid, x)),
    gain: (from, to) => band((sigmoid) => valueOf(sigmoid, to) - valueOf(sigmoid, from)),
    above: (other) => chanceAbove(asymptotes, other.asymptotes),
    asymptotes,
  };
}

function bandOf(values: readonly Weighted[]): Band {
  const sorted = values.toSorted((a, b) => a.value - b.value);
  const below = (level: number): number => {
    let sum = 0;
    for (const { value, weight } of sorted) {
      sum += weight;
      if (sum >= level) return value;
    }
    return sorted.at(-1)!.value;
  };
  return { low: below((1 - bandLevel) / 2), middle: below(0.5), high: below((1 + bandLevel) / 2) };
}

/** Each value once: many sigmoids of the grid end alike. */
function weightedValues(values: readonly Weighted[]): readonly Weighted[] {
  const weights = new Map<number, number>();
  for (const { value, weight } of values) weights.set(value, (weights.get(value) ?? 0) + weight);
  return [...weights].map(([value, weight]) => ({ value, weight }));
}

/** Ties count by half. */
function chanceAbove(own: readonly Weighted[], other: readonly Weighted[]): number {
  const won = (value: number, against: number): number => (value === against ? 0.5 : Number(value > against));
  let sum = 0;
  for (const { value, weight } of own)
    for (const one of other) sum += weight * one.weight * won(value, one.value);
  return sum;
}
