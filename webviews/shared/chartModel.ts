/** What a chart shows, apart from how it is drawn: pure data, and the words that describe the picture. */
import type { PlotValue, Spread } from "./columns.ts";
import { firstWhere } from "../../shared/lib/firstWhere.ts";
import {
  formatBytes,
  formatCount,
  formatFraction,
  formatNumber,
  formatSeconds,
  plural,
} from "../../shared/lib/format.ts";

export type Format = "number" | "fraction" | "tokens" | "seconds" | "bytes";
/** A place in the palette, or a meaning. */
export type Tone = number | "good" | "bad" | "neutral" | "plain" | "faint";

export interface ChartLine {
  readonly name: string;
  /** What is drawn: for an `area`, the top edge after stacking. null is passed over, at NaN a line breaks. */
  readonly values: readonly PlotValue[];
  /** What is said: the value before stacking. */
  readonly raw: readonly PlotValue[];
  /** `hatch`: from the values up to the top of the plot, for what says nothing. */
  readonly style: "line" | "points" | "area" | "hatch";
  readonly tone: Tone;
  readonly dash: number;
  readonly format: Format;
  readonly axis: "left" | "right";
  /** Around the line, e.g. p10 to p90; of points, their interval. */
  readonly band?: {
    readonly name: string;
    readonly low: readonly PlotValue[];
    readonly high: readonly PlotValue[];
  };
  /** Lowest and highest of the points that one position of the axis holds, where it holds several. */
  readonly spread?: Spread;
  /** What the value counts for, shown next to it. */
  readonly factor?: readonly PlotValue[];
  /** Drawn thin and grey, and said by number only: what the others are seen against. */
  readonly aside?: boolean;
}

export interface ChartModel {
  readonly steps: readonly number[];
  /** Where a position of the axis holds several steps: its first; `steps` has its last. */
  readonly begins?: readonly number[];
  readonly lines: readonly ChartLine[];
  /** Limits of the left axis; null: from the data. */
  readonly limits: readonly [number, number] | null;
  /** What the left axis spans at the least: less is noise that an axis of its own would blow up. */
  readonly least?: number;
  /** How values lie on the left axis; absent: as they are. */
  readonly scale?: { readonly kind: "log" } | { readonly kind: "symlog"; readonly linear: number };
  /** Steps after this one have not been made: lines go on there as they are expected to. Absent: all have been. */
  readonly until?: number;
  /** What `steps` count, if not steps. */
  readonly counted?: string;
  /** Why nothing is drawn and what is awaited; null when there is something to draw. */
  readonly empty: string | null;
}

/** What is smaller is rounding, not a measurement. */
export const noise = 1e-9;

/** Digits after the point that show a spacing exactly: 1 for 0.2, 2 for 0.25. */
function digitsOf(spacing: number): number {
  const least = Math.max(0, Math.ceil(-Math.log10(spacing) - 1e-9));
  const whole = (digits: number): boolean => {
    const scaled = spacing * 10 ** digits;
    return Math.abs(scaled - Math.round(scaled)) < 1e-6 * scaled;
  };
  return [least, least + 1].find(whole) ?? least;
}

/** Ticks of an axis, with as many digits as tell them apart: 0.8 and 1, but 4.532 and 4.534. */
export function formatTicks(ticks: readonly number[], format: Format): string[] {
  if (format === "fraction" || format === "seconds" || format === "bytes")
    return ticks.map((tick) => formatValue(tick, format));
  const spacing = Math.abs((ticks[1] ?? 1) - (ticks[0] ?? 0));
  const large = ticks.some((tick) => Math.abs(tick) >= 1e6);
  if (large || spacing === 0 || spacing < noise) return ticks.map((tick) => formatNumber(tick));
  const small = ticks.every((tick) => Math.abs(tick) < 1e-3);
  if (small && spacing < 1e-3) return ticks.map((tick) => scientific(tick, spacing));
  const digits = digitsOf(spacing);
  const trim = (text: string): string => (text.includes(".") ? text.replace(/\.?0+$/, "") : text);
  return ticks.map((tick) =>
    trim(tick.toFixed(digits))
      .replace(/^-(?=.*[1-9])/, "−")
      .replace(/^-/, ""),
  );
}

/** 0, 5e−7, 1.5e−6. */
function scientific(value: number, spacing: number): string {
  if (Math.abs(value) < spacing / 1e6) return "0";
  const [digits = "", power = ""] = value.toExponential(2).split("e");
  return `${digits.replace(/\.?0+$/, "")}e${power.replace("+", "")}`.replace(/-/g, "−");
}

export function formatValue(value: number | null | undefined, format: Format): string {
  if (typeof value === "number" && value !== 0 && Math.abs(value) < noise) return formatValue(0, format);
  switch (format) {
    case "fraction":
      return formatFraction(value);
    case "seconds":
      return formatSeconds(value);
    case "bytes":
      return value === null || value === undefined ? formatNumber(value) : formatBytes(value);
    case "tokens":
    case "number":
      return formatNumber(value);
  }
}

/** Index of the last step not after `step`; 0 where all are after it, −1 without any. */
function indexAt(steps: readonly number[], step: number): number {
  const after = firstWhere(steps.length, (at) => steps[at]! > step);
  return steps.length === 0 ? -1 : Math.max(0, after - 1);
}

/** Index of the step closest to `step`. */
export function nearest(steps: readonly number[], step: number): number {
  const before = indexAt(steps, step);
  const after = before + 1;
  if (before < 0 || after >= steps.length) return before;
  return step - steps[before]! <= steps[after]! - step ? before : after;
}

/** Index of the last step that was made; −1 without any. */
export const lastMade = ({ steps, until }: ChartModel): number =>
  until === undefined ? steps.length - 1 : indexAt(steps, until);

/** Where the last value up to an index is, or −1: points that exist at a few steps only keep theirs in between. */
function placeUpTo(line: ChartLine, index: number): number {
  for (let i = index; i >= 0; i--) {
    if (isKnown(line.raw[i])) return i;
    if (line.style !== "points") return -1;
  }
  return -1;
}

/** 0.412, or 0.412 × 0.7 where it counts for less or more than it is. */
export function saidUpTo(line: ChartLine, index: number): string {
  const at = placeUpTo(line, index);
  const value = formatValue(at < 0 ? null : line.raw[at], line.format);
  const [factor, low, high] = [line.factor?.[index], line.band?.low[at], line.band?.high[at]];
  if (isKnown(factor)) return `${value} × ${formatNumber(factor)}`;
  return line.style === "points" && isKnown(low) && isKnown(high)
    ? `${value} (${formatValue(low, line.format)} to ${formatValue(high, line.format)})`
    : value;
}

/** "step 719", or, where a position of the axis holds several, "mean of steps 512 to 1,023". */
export function placeOf({ steps, begins, counted = "step" }: ChartModel, index: number): string {
  const [step, begin] = [steps[index], begins?.[index]];
  if (step === undefined) return "";
  return begin === undefined || begin === step
    ? `${counted} ${formatCount(step)}`
    : `mean of steps ${formatCount(begin)} to ${formatCount(step)}`;
}

/** Lines that are said one by one. */
export const saidLines = ({ lines }: ChartModel): readonly ChartLine[] =>
  lines.filter(({ aside }) => aside !== true);

/** One step in words: what a screen reader says as the cursor moves. */
export function describeStep(model: ChartModel, index: number): string {
  const step = model.steps[index];
  if (step === undefined) return model.empty ?? "no data";
  const parts = saidLines(model).map((line) => `${line.name} ${saidUpTo(line, index)}`);
  const several = (model.begins?.[index] ?? step) !== step;
  return `${several ? placeOf(model, index) : `${model.counted ?? "step"} ${step}`}: ${parts.join(", ")}`;
}

/** The whole chart in words. */
export function summarize(model: ChartModel): string {
  if (model.empty !== null) return model.empty;
  const said = saidLines(model).slice(0, mostSaid);
  const more = model.lines.length - said.length;
  return [
    ...said.map((line) => summarizeLine(model, line)),
    ...(more > 0 ? [`${plural(more, "more line")}: the table has them.`] : []),
  ].join(" ");
}
/** Lines that are summed up: nobody listens to fifty. */
const mostSaid = 8;

/**
 * What a chart is called by a screen reader: "Entropy, over all rollouts. nats per token: from 0.9 at step 0 to …".
 * @param over empty: over what its numbers are is not known
 */
export const nameOf = (title: string, over: string, model: ChartModel): string =>
  `${title}, ${over === "" ? `over ${model.counted ?? "steps"} ${model.steps[0]} to ${model.steps.at(-1)}` : over}. ${summarize(model)}`;

const isKnown = (value: number | null | undefined): value is number =>
  value !== null && value !== undefined && !Number.isNaN(value);

function summarizeLine(
  { steps, counted = "step" }: ChartModel,
  { name, raw, spread, format }: ChartLine,
): string {
  const ends: number[] = [];
  let [low, high] = [Number.POSITIVE_INFINITY, Number.NEGATIVE_INFINITY];
  let [lowest, highest] = [0, 0];
  raw.forEach((value, i) => {
    if (!isKnown(value)) return;
    ends[ends.length === 0 ? 0 : 1] = i;
    const [least, most] = [spread?.low[i] ?? value, spread?.high[i] ?? value];
    if (least < low) [low, lowest] = [least, i];
    if (most > high) [high, highest] = [most, i];
  });
  const say = (value: number | null | undefined, index: number): string =>
    `${formatValue(value, format)} at ${counted} ${steps[index]}`;
  const [first, last] = ends;
  if (first === undefined) return `${name}: no values yet.`;
  return last === undefined
    ? `${name}: ${say(raw[first], first)}.`
    : `${name}: from ${say(raw[first], first)} to ${say(raw[last], last)}, lowest ${say(low, lowest)}, highest ${say(high, highest)}.`;
}

/** Whether something is drawn below 0. */
export const isBelow = (values: readonly PlotValue[]): boolean =>
  values.some((value) => value !== null && value < 0);

/**
 * The value that a line has had wherever it is known; undefined where it has moved or is not known often enough.
 * @param least what the left axis spans at the least: a hundredth of it cannot be seen
 */
export function constantOf(line: ChartLine, least = 0): number | undefined {
  let [low, high, count] = [Number.POSITIVE_INFINITY, Number.NEGATIVE_INFINITY, 0];
  line.raw.forEach((value, i) => {
    if (!isKnown(value)) return;
    low = Math.min(low, line.spread?.low[i] ?? value);
    high = Math.max(high, line.spread?.high[i] ?? value);
    count += 1;
  });
  const unseen = line.axis === "left" ? least / 100 : 0;
  const often = count >= fewest || (count >= 3 && line.raw.length >= 3 * fewest);
  return often && high - low <= Math.max(unseen, noise * Math.max(1, Math.abs(high))) ? high : undefined;
}
/** Points needed to call a series constant. */
const fewest = 10;

/** Rows of the chart's table, newest first. */
export function tableRows(model: ChartModel, most: number): readonly (readonly string[])[] {
  const rows: string[][] = [];
  for (let i = model.steps.length - 1; i >= 0 && rows.length < most; i--)
    rows.push([String(model.steps[i]), ...model.lines.map((line) => formatValue(line.raw[i], line.format))]);
  return rows;
}
