/**
 * How well a judge's scores fit a person's labels. All shares are weighted by what a label represents of the rollouts that it was drawn
 * from; intervals are 95 % ones of as many labels as the weights leave, n' = (Σw)² / Σw² (Kish, "Survey Sampling", 1965). Pure.
 */
import { wilson } from "../../../shared/lib/proportions.ts";
import type { Estimate } from "../../../shared/rollouts/judgeReport.ts";

/** One labelled answer. */
export interface Judged {
  /** The judge's. */
  readonly score: number;
  /** The person's label. */
  readonly good: boolean;
  /** Above 0; 1 where every answer was as likely to be drawn. */
  readonly weight: number;
  /** Characters of the answer. */
  readonly length: number;
}

/** Standard errors of a 95 % interval. */
const z = 1.96;

const sum = (values: readonly number[]): number => values.reduce((all, value) => all + value, 0);
/** @returns Σ w·of / Σ w; NaN of none */
const share = <Item extends Judged>(items: readonly Item[], of: (item: Item) => number): number =>
  sum(items.map((item) => item.weight * of(item))) / sum(items.map(({ weight }) => weight));

/** n' = (Σw)² / Σw²: how many equally weighted labels say as much. */
export const effective = (items: readonly Judged[]): number =>
  sum(items.map(({ weight }) => weight)) ** 2 / sum(items.map(({ weight }) => weight ** 2));

/** Of `items`, the share for which `holds`, with Wilson's interval; null of none. */
export function shareOf<Item extends Judged>(
  items: readonly Item[],
  holds: (item: Item) => boolean,
): Estimate | null {
  if (items.length === 0) return null;
  const value = share(items, (item) => Number(holds(item)));
  return { value, ...wilson(value, effective(items), z) };
}

export const passes = ({ score }: Judged, threshold: number): boolean => score >= threshold;

/** p_o: how often the judge passes what is labelled good and fails what is labelled bad. */
export const agreement = (items: readonly Judged[], threshold: number): Estimate | null =>
  shareOf(items, (item) => passes(item, threshold) === item.good);

/** p_e = P(pass) P(good) + P(fail) P(bad): the agreement of a judge that passes as many, but looks at nothing. */
export function chanceAgreement(items: readonly Judged[], threshold: number): number {
  const pass = share(items, (item) => Number(passes(item, threshold)));
  const good = share(items, (item) => Number(item.good));
  return pass * good + (1 - pass) * (1 - good);
}

/**
 * κ = (p_o − p_e) / (1 − p_e), with the interval of p_o carried over and p_e held: unlike the large-sample error it does not shrink to
 * nothing where all labels agree. null where one class is missing, for then p_e says nothing.
 * Source: Cohen, "A Coefficient of Agreement for Nominal Scales" (1960).
 */
export function kappa(items: readonly Judged[], threshold: number): Estimate | null {
  const observed = agreement(items, threshold);
  const chance = chanceAgreement(items, threshold);
  if (observed === null || !bothClasses(items) || chance === 1) return null;
  const of = (value: number): number => (value - chance) / (1 - chance);
  return { value: of(observed.value), low: of(observed.low), high: of(observed.high) };
}

const bothClasses = (items: readonly Judged[]): boolean =>
  items.some(({ good }) => good) && items.some(({ good }) => !good);

/**
 * A = P(score of a good answer > that of a bad one) + ½ P(they are equal): 0.5 is a coin. Its interval are the θ with
 * |A − θ| ≤ z √V(θ), V(θ) = θ(1 − θ) / (m n) · (1 + (N − 1)(1 − θ)/(2 − θ) + (N − 1)θ/(1 + θ)), N = (m + n) / 2.
 * Sources: Hanley and McNeil, "The Meaning and Use of the Area under a ROC Curve" (1982); Newcombe, "Confidence Intervals for an Effect
 * Size Measure Based on the Mann-Whitney Statistic. Part 2" (2006), method 5.
 */
export function auroc(items: readonly Judged[]): Estimate | null {
  const [good, bad] = [items.filter((item) => item.good), items.filter((item) => !item.good)];
  if (good.length === 0 || bad.length === 0) return null;
  const value = share(good, ({ score }) =>
    share(bad, (other) => (score > other.score ? 1 : score === other.score ? 0.5 : 0)),
  );
  const [m, n] = [effective(good), effective(bad)];
  const far = (theta: number): boolean => Math.abs(value - theta) > z * Math.sqrt(areaVariance(theta, m, n));
  return { value, low: border(0, value, far), high: border(1, value, far) };
}

/** V(θ). @param m, n good and bad answers */
export function areaVariance(theta: number, m: number, n: number): number {
  const more = (m + n) / 2 - 1;
  return (
    ((theta * (1 - theta)) / (m * n)) *
    (1 + (more * (1 - theta)) / (2 - theta) + (more * theta) / (1 + theta))
  );
}

/** Between `outside` and `inside` the place from which on nothing is far, by halving. */
function border(outside: number, inside: number, far: (at: number) => boolean): number {
  let [from, to] = [outside, inside];
  for (let i = 0; i < 50; i++) {
    const middle = (from + to) / 2;
    if (far(middle)) from = middle;
    else to = middle;
  }
  return to;
}

/**
 * Spearman's correlation of score and length at the same label: both as ranks, minus the mean of their label; above 0 longer answers score
 * more than their label explains. Fisher's z with the error √((1 + r²/2) / (n' − 4)). null below 6 labels, or where nothing varies.
 * Sources: Fisher, "The Distribution of the Partial Correlation Coefficient" (1924); Bonett and Wright, "Sample Size Requirements for
 * Estimating Pearson, Kendall and Spearman Correlations" (2000).
 */
export function lengthBias(items: readonly Judged[]): Estimate | null {
  const n = effective(items);
  if (items.length < 6 || n <= 5) return null;
  const scores = withinLabel(items, ranks(items.map(({ score }) => score)));
  const lengths = withinLabel(items, ranks(items.map(({ length }) => length)));
  const product = (one: readonly number[], other: readonly number[]): number =>
    sum(items.map(({ weight }, i) => weight * one[i]! * other[i]!));
  const spread = Math.sqrt(product(scores, scores) * product(lengths, lengths));
  // Ranks are halves of whole numbers: what is left of equal ones is rounding.
  if (spread < 1e-9) return null;
  const value = Math.max(-1, Math.min(1, product(scores, lengths) / spread));
  const error = z * Math.sqrt((1 + value ** 2 / 2) / (n - 4));
  const middle = Math.atanh(Math.max(-0.999999, Math.min(0.999999, value)));
  return { value, low: Math.tanh(middle - error), high: Math.tanh(middle + error) };
}

/** From 1; equal values share the mean of their ranks. */
export function ranks(values: readonly number[]): readonly number[] {
  const sorted = values.toSorted((one, other) => one - other);
  return values.map((value) => (sorted.indexOf(value) + sorted.lastIndexOf(value)) / 2 + 1);
}

/** Each value minus the weighted mean of those with its label. */
function withinLabel(items: readonly Judged[], values: readonly number[]): readonly number[] {
  const of = (good: boolean): number => {
    const own = items.flatMap((item, i) =>
      item.good === good ? [{ weight: item.weight, value: values[i]! }] : [],
    );
    return sum(own.map(({ weight, value }) => weight * value)) / sum(own.map(({ weight }) => weight));
  };
  const [good, bad] = [of(true), of(false)];
  return items.map((item, i) => values[i]! - (item.good ? good : bad));
}

/** n = (z / half)² p (1 − p): labels that leave ± `half` on a share of `p`. */
export const labelsFor = (p: number, half: number): number => Math.ceil((z / half) ** 2 * p * (1 - p));
