/** What a chart shows, apart from how it is drawn: pure data, and the words that stand for the picture. */
import { firstWhere } from "../../shared/firstWhere.ts";
import { formatBytes, formatFraction, formatNumber, formatSeconds } from "../../shared/format.ts";

export type Format = "number" | "fraction" | "tokens" | "seconds" | "bytes";
/** A place in the palette, or a meaning. */
export type Tone = number | "good" | "bad" | "neutral";

export interface Line {
  readonly name: string;
  /** What is drawn: for an `area`, the top edge after stacking. */
  readonly values: readonly (number | null)[];
  /** What is said: the value before stacking. */
  readonly raw: readonly (number | null)[];
  readonly style: "line" | "points" | "area";
  readonly tone: Tone;
  readonly dash: number;
  readonly format: Format;
  readonly axis: "left" | "right";
  /** Around the line, e.g. mean ± standard deviation. */
  readonly band?: {
    readonly name: string;
    readonly low: readonly (number | null)[];
    readonly high: readonly (number | null)[];
  };
}

export interface ChartModel {
  readonly steps: readonly number[];
  readonly lines: readonly Line[];
  /** Limits of the left axis; null: from the data. */
  readonly limits: readonly [number, number] | null;
  /** Why nothing is drawn and what is awaited; null when there is something to draw. */
  readonly empty: string | null;
}

/** Digits after the point that a spacing needs to be told whole: 1 for 0.2, 2 for 0.25. */
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
  if (large || spacing === 0 || spacing < 1e-9) return ticks.map((tick) => formatNumber(tick));
  const digits = digitsOf(spacing);
  const trim = (text: string): string => (text.includes(".") ? text.replace(/\.?0+$/, "") : text);
  return ticks.map((tick) =>
    trim(tick.toFixed(digits))
      .replace(/^-(?=.*[1-9])/, "−")
      .replace(/^-/, ""),
  );
}

export function formatValue(value: number | null | undefined, format: Format): string {
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
export function indexAt(steps: readonly number[], step: number): number {
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

/** The last value up to an index: points that exist at a few steps only (evaluations) keep theirs in between. */
export function valueUpTo(line: Line, index: number): number | null {
  for (let i = index; i >= 0; i--) {
    const value = line.raw[i];
    if (value !== null && value !== undefined) return value;
    if (line.style !== "points") return null;
  }
  return null;
}

/** One step in words: what a screen reader says as the cursor moves. */
export function describeStep(model: ChartModel, index: number): string {
  const step = model.steps[index];
  if (step === undefined) return model.empty ?? "no data";
  const parts = model.lines.map((line) => `${line.name} ${formatValue(valueUpTo(line, index), line.format)}`);
  return `step ${step}: ${parts.join(", ")}`;
}

/** The whole chart in words. */
export function summarize(model: ChartModel): string {
  if (model.empty !== null) return model.empty;
  return model.lines.map((line) => summarizeLine(model.steps, line)).join(" ");
}

function summarizeLine(steps: readonly number[], line: Line): string {
  const known = line.raw.flatMap((value, index) => (value === null ? [] : [{ value, index }]));
  const [first, last] = [known[0], known.at(-1)];
  if (first === undefined || last === undefined) return `${line.name}: no values yet.`;
  const low = known.reduce((least, one) => (one.value < least.value ? one : least));
  const high = known.reduce((most, one) => (one.value > most.value ? one : most));
  const say = ({ value, index }: { value: number; index: number }): string =>
    `${formatValue(value, line.format)} at step ${steps[index]}`;
  return first === last
    ? `${line.name}: ${say(last)}.`
    : `${line.name}: from ${say(first)} to ${say(last)}, lowest ${say(low)}, highest ${say(high)}.`;
}

/** Rows of the chart's table, newest first. */
export function tableRows(model: ChartModel, most: number): readonly (readonly string[])[] {
  const rows: string[][] = [];
  for (let i = model.steps.length - 1; i >= 0 && rows.length < most; i--)
    rows.push([String(model.steps[i]), ...model.lines.map((line) => formatValue(line.raw[i], line.format))]);
  return rows;
}
