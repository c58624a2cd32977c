/** Runs that differ in their seed only, and their series as one with a band. Pure. */
import { isDeepStrictEqual } from "node:util";
import type { JsonObject } from "../../../shared/lib/json.ts";
import { Buckets } from "../../../shared/lib/buckets.ts";
import type { Series } from "../../../shared/protocol/protocol.ts";
import type { GroupSeries } from "../../../shared/run/comparison.ts";
import type { RunSources } from "../../../shared/run/sources.ts";
import { sourceKey } from "./sourceDifference.ts";

interface Grouped {
  readonly config: JsonObject;
  readonly sources: RunSources | undefined;
}

const seedless = ({ seed: _seed, name: _name, ...rest }: JsonObject): JsonObject => rest;

/** A run's config is recorded as it starts; until then it says nothing. */
export const hasConfig = ({ config }: Pick<Grouped, "config">): boolean => Object.keys(config).length > 0;

/**
 * Places of runs, in the order in which they are given. A run whose rewards or data are others is another experiment, and so
 * is one whose config is not known.
 */
export function groupsBySeed(runs: readonly Grouped[]): readonly (readonly number[])[] {
  const groups: number[][] = [];
  const trees = runs.map(({ config }) => seedless(config));
  const keys = runs.map(({ sources }) => sourceKey(sources));
  runs.forEach((_, at) => {
    const same = groups.find(([first]) => {
      const [own, other] = [keys[at], keys[first!]];
      const alike = own === undefined || other === undefined || own === other;
      return alike && hasConfig(runs[at]!) && isDeepStrictEqual(trees[at], trees[first!]);
    });
    if (same === undefined) groups.push([at]);
    else same.push(at);
  });
  return groups;
}

export const widest = (series: readonly Series[], least = 1): number =>
  Math.max(least, ...series.map((one) => one.width ?? 1));

/** A series in buckets of a width that is at least its own. */
function inBuckets(series: Series, width: number): Buckets {
  const buckets = new Buckets(width);
  series.steps.forEach((step, i) => {
    const value = series.values[i] ?? Number.NaN;
    const count = Number.isFinite(value) ? (series.counts?.[i] ?? 1) : 0;
    const sum = count === 0 ? 0 : value * count;
    const [low, high] = [series.low?.[i] ?? value, series.high?.[i] ?? value];
    buckets.join(series.begins?.[i] ?? step, step, count, sum, low, high);
  });
  return buckets;
}

/**
 * @param series of one metric, an entry a run of the group; each in buckets, see `metricsSeries`
 * @param ends last steps of these runs: the mean stops where the first of them does, so that no step is of fewer runs
 * @param least steps in a bucket at least: those of other groups, next to which it is drawn
 */
export function groupSeries(
  group: number,
  series: readonly Series[],
  ends: readonly number[],
  least = 1,
): GroupSeries {
  const width = widest(series, least);
  const end = Math.min(...ends);
  const runs = series.map((one) => inBuckets(one, width));
  const places = new Map<number, { begin: number; step: number; values: number[] }>();
  for (const run of runs)
    run.steps.forEach((step, i) => {
      const value = run.mean(i);
      const place = run.placeOf(step);
      const known = places.get(place) ?? { begin: run.begins[i]!, step, values: [] };
      known.begin = Math.min(known.begin, run.begins[i]!);
      known.step = Math.max(known.step, step);
      if (value !== null) known.values.push(value);
      places.set(place, known);
    });
  const ordered = [...places]
    .sort(([one], [other]) => one - other)
    .flatMap(([, place]) => (place.step <= end ? [place] : []));
  const moments = ordered.map(({ values }) => momentsOf(values));
  return {
    group,
    steps: ordered.map(({ step }) => step),
    ...(width === 1 ? {} : { begins: ordered.map(({ begin }) => begin) }),
    n: moments.map(({ n }) => n),
    mean: moments.map(({ mean }) => mean),
    spread: moments.map(({ spread }) => spread),
    error: moments.map(({ n, spread }) => (spread === null ? null : spread / Math.sqrt(n))),
  };
}

function momentsOf(values: readonly number[]): {
  readonly n: number;
  readonly mean: number | null;
  readonly spread: number | null;
} {
  const n = values.length;
  if (n === 0) return { n, mean: null, spread: null };
  const mean = values.reduce((sum, value) => sum + value, 0) / n;
  if (n === 1) return { n, mean, spread: null };
  const squares = values.reduce((sum, value) => sum + (value - mean) ** 2, 0);
  return { n, mean, spread: Math.sqrt(squares / (n - 1)) };
}
