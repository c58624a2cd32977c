// How often is a run's end in its forecast's 80 % band? On the finished runs that are kept for the verdict: forecast at 10, 25 and
// 50 % of a run, compared with the mean reward of its last tenth.
import { forecast, bandLevel, type Band, type ForecastPoint } from "../shared/run/forecast.ts";
import { mean } from "../shared/lib/mean.ts";
import { keptRuns } from "./verdict/corpus.ts";
import { measured } from "./report.ts";

/** The normal distribution's quantile at 0.9: of a band that has 80 %. */
const z = 1.2816;
const leastSteps = 30;

interface Judged {
  readonly healthy: boolean;
  readonly inside: boolean;
  /** Width of the band as a share of what the run's reward moved over. */
  readonly width: number;
}

/** The mean of `count` points near x strays from the curve by the noise, too. */
function ofMean(band: Band, noise: number, count: number): Band {
  const more = (z * noise) / Math.sqrt(count);
  return {
    low: band.middle - Math.hypot(band.middle - band.low, more),
    middle: band.middle,
    high: band.middle + Math.hypot(band.high - band.middle, more),
  };
}

/** @returns undefined: the run is short, or has no reward that differs in this part of it */
function judged(points: readonly ForecastPoint[], part: number, healthy: boolean): Judged | undefined {
  const seen = points.slice(0, Math.round(part * points.length));
  const share = seen.every(({ y }) => y >= 0 && y <= 1);
  const found = forecast(seen, share ? [0, 1] : undefined);
  if (found === undefined) return undefined;
  const last = points.slice(-Math.max(1, Math.round(points.length / 10)));
  const noise = Math.sqrt(mean(seen.map(({ x, y }) => (y - found.at(x).middle) ** 2)));
  const { low, high } = ofMean(found.at(mean(last.map(({ x }) => x))), noise, last.length);
  const end = mean(last.map(({ y }) => y));
  const ys = points.map(({ y }) => y);
  return {
    healthy,
    inside: low <= end && end <= high,
    width: (high - low) / (Math.max(...ys) - Math.min(...ys)),
  };
}

const runs = (["calibration", "judging"] as const).flatMap(keptRuns).flatMap(({ record, failing }) => {
  const reward = record.series["reward/total"];
  if (reward === undefined || reward.values.length < leastSteps) return [];
  const first = reward.steps[0]!;
  const points = Array.from(reward.steps, (step, i) => ({ x: step - first + 1, y: reward.values[i]! }));
  return [{ points: points.filter(({ y }) => Number.isFinite(y)), healthy: failing === null }];
});

for (const part of [0.1, 0.25, 0.5]) {
  const all = runs.flatMap(({ points, healthy }) => judged(points, part, healthy) ?? []);
  for (const [kind, own] of [
    ["runs that learn", all.filter(({ healthy }) => healthy)],
    ["runs that were made to fail", all.filter(({ healthy }) => !healthy)],
  ] as const)
    measured({
      what: `the end of a run in its ${100 * bandLevel} % band, told at ${100 * part} % of it`,
      value: 100 * mean(own.map(({ inside }) => Number(inside))),
      unit: "% of runs",
      setting: `${own.length} ${kind}; the band's median width is ${Math.round(100 * own.map(({ width }) => width).toSorted((a, b) => a - b)[Math.floor(own.length / 2)]!)} % of the reward's range`,
    });
}
