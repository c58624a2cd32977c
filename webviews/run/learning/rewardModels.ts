/** From a run's series to the charts that say whether it learns: its reward, and what that is made of. Pure. */
import { align, type PlotValue, type Spread } from "../../shared/columns.ts";
import { constantOf, isBelow, type ChartLine, type ChartModel } from "../../shared/chartModel.ts";
import { blank, charted, line, lineOf, middleBand, type RunView } from "../models.ts";
import { withinPossible } from "./rewardRange.ts";

/** Lines of a chart, at most. */
const mostTerms = 12;

/** `reward/<term>`, but neither the total nor what is counted of a term. */
const termOf = (metric: string): string | undefined => /^reward\/(?!total$)([^/]+)$/.exec(metric)?.[1];
const termsOf = ({ series }: RunView): readonly string[] =>
  series.names.flatMap((name) => termOf(name) ?? []).slice(0, mostTerms);

/** The mean over the step's rollouts, and between which rewards most of them are. */
export function rewardModel(view: RunView): ChartModel {
  const parts = ["", "/p10", "/p90", "/std", "/min", "/max"];
  const aligned = align(parts.map((part) => view.series.column(`reward/total${part}`)));
  const reward = lineOf({ name: "reward", tone: 0, dash: 0, format: "number" }, aligned, 0);
  const band = bandOf(aligned.values);
  return charted(view, "reward", aligned, [band === null ? reward : { ...reward, band }]);
}

/** Percentiles where they were recorded, else the deviation within what a reward can be. */
function bandOf(columns: readonly PlotValue[][]): (Spread & { readonly name: string }) | null {
  const [mean = [], low = [], high = [], std = [], min = [], max = []] = columns;
  const middle = middleBand(low, high);
  if (middle !== null) return middle;
  return blank(std) ? null : { name: "± std within the possible", ...withinPossible(mean, std, min, max) };
}

/**
 * What each term adds to the reward: its mean times the weight that acts, on top of one another, those below 0 downwards.
 * Where a weight is not known, a term changes its sign, or the reward is not their sum (`combine: product`), lines of the means.
 */
export function termsModel(view: RunView): ChartModel {
  const terms = termsOf(view);
  const aligned = align([
    ...terms.map((term) => view.series.column(`reward/${term}`)),
    ...terms.map((term) => view.series.column(`reward/${term}/weight`)),
    view.series.column("reward/total"),
  ]);
  const parts = terms.map((name, i) => ({
    name,
    i,
    mean: aligned.values[i] ?? [],
    weight: aligned.values[terms.length + i] ?? [],
  }));
  const style = (name: string, i: number) => ({ name, tone: i, dash: i, format: "number" }) as const;
  const factors = ({ weight }: Term) => (blank(weight) ? {} : { factor: weight });
  const added = parts.map(({ mean, weight }) =>
    mean.map((value, i): PlotValue => (value === null ? null : value * (weight[i] ?? Number.NaN))),
  );
  const total = lineOf(
    { name: "total", tone: "plain", dash: 0, format: "number" },
    aligned,
    2 * terms.length,
  );
  const isSum = terms.length === 0 || addUp(added, total.values);
  if (!parts.every(hasWeights) || !added.every(hasOneSign) || !isSum) {
    const lines = parts.map((part) => ({
      ...lineOf(style(part.name, part.i), aligned, part.i),
      ...factors(part),
    }));
    return charted(view, "reward term", aligned, isSum ? lines : [...lines, total]);
  }
  const tops = stackBothWays(added);
  const areas = parts.map((part): ChartLine => ({
    ...line({ ...style(part.name, part.i), style: "area" }, part.mean, tops[part.i] ?? []),
    ...factors(part),
  }));
  // An area reaches down to the one before it: those of one side come together.
  areas.sort((one, other) => Number(isBelow(other.values)) - Number(isBelow(one.values)));
  return charted(view, "reward term", aligned, terms.length > 1 ? [...areas, total] : areas);
}

interface Term {
  readonly mean: readonly PlotValue[];
  readonly weight: readonly PlotValue[];
}
const hasWeights = ({ mean, weight }: Term): boolean =>
  mean.every((value, i) => value === null || Number.isNaN(value) || (weight[i] ?? null) !== null);
const hasOneSign = (values: readonly PlotValue[]): boolean =>
  !isBelow(values) || values.every((value) => value === null || !(value > 0));

/** How far the sums may be from the total, as a share of both: a weight that moves within a bucket is not that of each step. */
const slack = 0.05;
const addUp = (columns: readonly (readonly PlotValue[])[], total: readonly PlotValue[]): boolean => {
  let [apart, size] = [0, 0];
  total.forEach((whole, i) => {
    const sum = columns.reduce((before, column) => before + (column[i] ?? 0), 0);
    if (whole === null || Number.isNaN(whole) || Number.isNaN(sum)) return;
    apart += Math.abs(sum - whole);
    size += Math.max(Math.abs(sum), Math.abs(whole));
  });
  return apart <= slack * size;
};

/** Each column on top of those before it of the same sign; a term that a step lacks adds nothing there. */
function stackBothWays(columns: readonly (readonly PlotValue[])[]): PlotValue[][] {
  const sums = { above: [] as number[], below: [] as number[] };
  return columns.map((values) => {
    const side = isBelow(values) ? sums.below : sums.above;
    return values.map((value, i): PlotValue => {
      if (columns.every((column) => column[i] === null)) return null;
      side[i] = (side[i] ?? 0) + (value ?? 0);
      return side[i];
    });
  });
}

/** How the weights change, if any does: constant ones are shown next to their terms. */
export function weightsModel(view: RunView): ChartModel {
  const terms = termsOf(view);
  const aligned = align(terms.map((term) => view.series.column(`reward/${term}/weight`)));
  const lines = terms.map((name, i) => lineOf({ name, tone: i, dash: i, format: "number" }, aligned, i));
  const moving = lines.some((line) => constantOf(line) === undefined);
  return charted(view, "weight", aligned, moving ? lines : []);
}
