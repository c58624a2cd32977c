/** A line chart as SVG that needs nothing else: colours come from the page's style. */
import { visibleText } from "../../../../shared/lib/visibleText.ts";
import { formatNumber } from "../../../../shared/lib/format.ts";

export interface ChartSeries {
  readonly name: string;
  readonly steps: readonly number[];
  /** null where there is no number. */
  readonly values: readonly (number | null)[];
  /** Around the line. */
  readonly band?: { readonly low: readonly number[]; readonly high: readonly number[] };
  /** A course among measurements: without dots. */
  readonly smooth?: boolean;
}
export interface ChartOf {
  readonly title: string;
  readonly series: readonly ChartSeries[];
  /** Values that the axis shows whatever they are. */
  readonly limits?: readonly [number, number];
  /** Single measurements rather than a course. */
  readonly points?: boolean;
  /** What runs along it, if not steps; `log`: doubling is one distance. */
  readonly along?: { readonly name: string; readonly log: boolean };
  /** A dotted line where something happens. */
  readonly mark?: { readonly at: number; readonly text: string };
}

const steps = { name: "step", log: false };
const [width, height] = [460, 200];
const frame = { left: 48, right: 10, top: 8, bottom: 24 };

export const escaped = (text: string): string =>
  visibleText(text)
    .replaceAll("&", "&amp;")
    .replaceAll("<", "&lt;")
    .replaceAll(">", "&gt;")
    .replaceAll('"', "&quot;");

interface Frame {
  readonly x: (step: number) => number;
  readonly y: (value: number) => number;
}

/** Empty where no series has a number. */
export function chart({ title, series, limits, points = false, along = steps, mark }: ChartOf): string {
  const drawn = series.filter(({ values }) => values.some((value) => value !== null));
  if (drawn.length === 0) return "";
  const places = drawn.flatMap((one) => one.steps);
  const values = drawn.flatMap(({ values: own, band }) => [
    ...own.filter((value) => value !== null),
    ...(band === undefined ? [] : [...band.low, ...band.high]),
  ]);
  const [first, last] = [least(places), most(places)];
  const of = along.log ? Math.log2 : (step: number): number => step;
  const [low, high] = range(limits ?? [least(values), most(values)]);
  const place: Frame = {
    x: (step) =>
      frame.left +
      ((of(step) - of(first)) / (of(last) - of(first) || 1)) * (width - frame.left - frame.right),
    y: (value) =>
      height - frame.bottom - ((value - low) / (high - low)) * (height - frame.top - frame.bottom),
  };
  const said = drawn.flatMap(({ name, values: own, smooth }) =>
    smooth === true ? [] : [`${name} ${formatNumber(own.findLast((one) => one !== null))}`],
  );
  return [
    `<figure><figcaption>${escaped(title)}</figcaption>`,
    `<svg viewBox="0 0 ${width} ${height}" role="img" aria-label="${escaped(`${title}: at ${along.name} ${drawn[0]!.steps.at(-1)} ${said.join(", ")}`)}">`,
    ...[low, (low + high) / 2, high].map((value) => rule(place.y(value), formatNumber(value))),
    text(frame.left, height - 8, "start", String(first)),
    text(width - frame.right, height - 8, "end", `${along.name} ${last}`),
    ...(mark === undefined ? [] : [marked(mark, place)]),
    ...drawn.map(
      (one, i) =>
        bandOf(one, i, place) +
        (points && one.smooth !== true ? dots(one, i, place) : "") +
        line(one, i, place),
    ),
    "</svg>",
    `<ul class="legend">${drawn.map(({ name }, i) => `<li class="s${i % 6}">${escaped(name)}</li>`).join("")}</ul></figure>`,
  ].join("\n");
}

/** Spread arguments would be too many of a long run. */
const least = (values: readonly number[]): number => values.reduce((one, other) => Math.min(one, other));
const most = (values: readonly number[]): number => values.reduce((one, other) => Math.max(one, other));

/** Not so narrow that noise fills it. */
function range([low, high]: readonly [number, number]): readonly [number, number] {
  const size = Math.max(high - low, 1e-6 + 0.02 * Math.max(Math.abs(low), Math.abs(high)));
  const middle = (low + high) / 2;
  return high - low >= size ? [low, high] : [middle - size / 2, middle + size / 2];
}

const text = (x: number, y: number, anchor: string, what: string): string =>
  `<text x="${x}" y="${y}" text-anchor="${anchor}">${escaped(what)}</text>`;
const rule = (y: number, label: string): string =>
  `<line class="rule" x1="${frame.left}" x2="${width - frame.right}" y1="${y.toFixed(1)}" y2="${y.toFixed(1)}"/>${text(frame.left - 6, y + 4, "end", label)}`;

function marked({ at, text: what }: NonNullable<ChartOf["mark"]>, { x }: Frame): string {
  const place = x(at);
  const end = place > width / 2;
  return `<line class="mark" x1="${place.toFixed(1)}" x2="${place.toFixed(1)}" y1="${frame.top}" y2="${height - frame.bottom}"/>${text(place + (end ? -5 : 5), frame.top + 10, end ? "end" : "start", what)}`;
}

/** From its lower edge back along its upper one. */
function bandOf({ steps: own, band }: ChartSeries, index: number, { x, y }: Frame): string {
  if (band === undefined) return "";
  const edge = (values: readonly number[]): string[] =>
    values.map((value, i) => `${x(own[i]!).toFixed(1)} ${y(value).toFixed(1)}`);
  return `<path class="band s${index % 6}" d="M${[...edge(band.low), ...edge(band.high).toReversed()].join("L")}Z"/>`;
}

/** Broken where a value is missing. */
function line({ steps, values }: ChartSeries, index: number, { x, y }: Frame): string {
  const parts = values.map((value, i) =>
    value === null
      ? ""
      : `${i > 0 && values[i - 1] !== null ? "L" : "M"}${x(steps[i]!).toFixed(1)} ${y(value).toFixed(1)}`,
  );
  return `<path class="s${index % 6}" d="${parts.join("")}"/>`;
}

const dots = ({ steps, values }: ChartSeries, index: number, { x, y }: Frame): string =>
  values
    .map((value, i) =>
      value === null
        ? ""
        : `<circle class="s${index % 6}" cx="${x(steps[i]!).toFixed(1)}" cy="${y(value).toFixed(1)}" r="3"/>`,
    )
    .join("");
