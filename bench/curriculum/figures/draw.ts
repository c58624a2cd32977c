/** A figure as an SVG that needs nothing else, in colours that light and dark pages both bear. */
import { escaped } from "../../../server/cli/runs/html/chart.ts";
import { words, type Figure, type Panel, type Series, type Value } from "./figure.ts";

const colours = ["#2f7fd6", "#c2680a", "#2e9e6b", "#b4489a", "#8a7a1f", "#7a6bd1", "#7c7c7c"] as const;
const grey = "#7c7c7c";
const frame = { left: 46, right: 14, top: 24, bottom: 38 } as const;
const head = 46;
const colourOf = (index: number): string => colours[index % colours.length]!;

interface Place {
  readonly left: number;
  readonly top: number;
  readonly width: number;
  readonly height: number;
  readonly x: (value: number) => number;
  readonly y: (value: number) => number;
}

const at = (value: number): string => value.toFixed(1);
const text = (x: number, y: number, anchor: string, what: string, more = ""): string =>
  `<text x="${at(x)}" y="${at(y)}" text-anchor="${anchor}" ${more === "" ? `fill="${grey}"` : more}>${escaped(what)}</text>`;
const rule = (x1: number, y1: number, x2: number, y2: number, more = ""): string =>
  `<line x1="${at(x1)}" y1="${at(y1)}" x2="${at(x2)}" y2="${at(y2)}" stroke="${grey}"${more}/>`;
const faint = ` stroke-opacity="0.35"`;

/** Round steps, at most five of them, from 0 over everything. */
export function ticksTo(most: number): number[] {
  const step = [0.01, 0.02, 0.05, 0.1, 0.2, 0.25, 0.5, 1].find((one) => most / one <= 5) ?? most / 5;
  const count = Math.ceil(most / step - 1e-9);
  return Array.from({ length: count + 1 }, (_, i) => Number((i * step).toFixed(4)));
}

function page(width: number, height: number, title: string, parts: readonly string[]): string {
  return [
    `<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 ${width} ${height}" width="${width}" height="${height}" font-family="sans-serif" font-size="12" role="img" aria-label="${escaped(title)}">`,
    text(frame.left, 16, "start", title, `fill="${grey}" font-weight="bold"`),
    ...parts,
    "</svg>",
    "",
  ].join("\n");
}

/** The frame of a panel with its y axis. */
function axes(place: Place, ticks: readonly number[]): string[] {
  const { left, width, y } = place;
  return ticks.flatMap((tick) => [
    rule(left, y(tick), left + width, y(tick), tick === 0 ? "" : faint),
    text(left - 6, y(tick) + 4, "end", String(tick)),
  ]);
}

const dot = (place: Place, value: Value, colour: string, said: string): string =>
  `<circle cx="${at(place.x(value.x))}" cy="${at(place.y(value.mean))}" r="2.2" fill="${colour}"><title>${escaped(`${said}: ${words(value)}`)}</title></circle>`;

const along = (place: Place, values: readonly Value[], of: (value: Value) => number): string[] =>
  values.map((value) => `${at(place.x(value.x))},${at(place.y(of(value)))}`);

function band(place: Place, { values }: Series, colour: string): string {
  const edge = [
    ...along(place, values, ({ high }) => high),
    ...along(place, values, ({ low }) => low).reverse(),
  ];
  return `<polygon points="${edge.join(" ")}" fill="${colour}" fill-opacity="0.2"/>`;
}

const line = (place: Place, { label, values }: Series, colour: string, x: string): string[] => [
  `<polyline points="${along(place, values, ({ mean }) => mean).join(" ")}" fill="none" stroke="${colour}" stroke-width="1.8"/>`,
  ...values.map((value) => dot(place, value, colour, `${label}, ${x} ${value.x}`)),
];

/** Each with its colour and the number of its seeds. */
function legend(series: readonly Series[]): { readonly parts: string[]; readonly end: number } {
  let left: number = frame.left;
  const labels = series.flatMap(({ label, values }, i) => {
    const said = `${label} (${values[0]?.seeds ?? 0} seeds)`;
    const from = left;
    left += 34 + 6.6 * said.length;
    return [
      `<line x1="${at(from)}" y1="32" x2="${at(from + 18)}" y2="32" stroke="${colourOf(i)}" stroke-width="3"/>`,
      text(from + 23, 36, "start", said),
    ];
  });
  const parts = [...labels, text(left + 6, 36, "start", "band: 95 % over seeds")];
  return { parts, end: left + 150 };
}

type Lines = Extract<Figure, { kind: "lines" }>;
const all = (panels: readonly Panel[]): Value[] =>
  panels.flatMap(({ series }) => series.flatMap(({ values }) => values));
/** An interval that leaves what a success can be is cut there. */
const within = (value: Value): Value => ({
  ...value,
  low: Math.max(0, value.low),
  high: Math.min(1, value.high),
});

function drawnLines(figure: Lines): string {
  const panels = figure.panels.map((panel) => ({
    ...panel,
    series: panel.series.map((one) => ({ ...one, values: one.values.map(within) })),
  }));
  const columns = panels.length === 4 ? 2 : Math.min(3, panels.length);
  const [width, height] = panels.length === 1 ? [560, 300] : [270, 210];
  const xs = all(panels).map(({ x }) => (figure.scale === "doubling" ? Math.log2(x) : x));
  const [first, last] = [Math.min(...xs), Math.max(...xs)];
  const ticks = ticksTo(Math.max(...all(panels).map(({ high }) => high)));
  const parts = panels.flatMap((panel, i) => {
    const [left, top] = [
      (i % columns) * width + frame.left,
      Math.floor(i / columns) * height + head + frame.top,
    ];
    const size = { width: width - frame.left - frame.right, height: height - frame.top - frame.bottom };
    const place: Place = {
      ...{ left, top, ...size },
      x: (value) =>
        left +
        (((figure.scale === "doubling" ? Math.log2(value) : value) - first) / (last - first || 1)) *
          size.width,
      y: (value) => top + size.height - (value / ticks.at(-1)!) * size.height,
    };
    return [
      ...axes(place, ticks),
      ...xTicks(figure, panel).flatMap((tick) => [
        rule(place.x(tick), top + size.height, place.x(tick), top + size.height + 4),
        text(place.x(tick), top + size.height + 16, "middle", String(tick)),
      ]),
      text(left + size.width / 2, top + size.height + 29, "middle", figure.x),
      text(left, top - 8, "start", panel.title === "" ? figure.y : `${panel.title}: ${figure.y}`),
      ...panel.series.map((one, of) => band(place, one, colourOf(of))),
      ...panel.series.flatMap((one, of) => line(place, one, colourOf(of), figure.x)),
    ];
  });
  const rows = Math.ceil(panels.length / columns);
  const { parts: names, end } = legend(panels[0]!.series);
  const wide = Math.ceil(Math.max(columns * width, end));
  return page(wide, head + rows * height, figure.title, [...names, ...parts]);
}

/** Every doubling, or the ends and the middle. */
function xTicks({ scale }: Lines, { series }: Panel): readonly number[] {
  const values = series[0]?.values.map(({ x }) => x) ?? [];
  if (scale === "doubling") return values;
  return [...new Set([values[0], values[values.length >> 1], values.at(-1)])].filter(
    (one) => one !== undefined,
  );
}

function drawnBars(figure: Extract<Figure, { kind: "bars" }>): string {
  const [width, row, left] = [640, 30, 190];
  const bars = figure.bars.map(({ label, value }) => ({ label, value: within(value) }));
  const ticks = ticksTo(Math.max(...bars.map(({ value }) => value.high)));
  const [top, bottom] = [34, 34 + bars.length * row];
  const x = (value: number): number => left + (value / ticks.at(-1)!) * (width - left - 130);
  const parts = bars.flatMap(({ label, value }, i) => {
    const middle = top + (i + 0.5) * row;
    return [
      `<rect x="${at(left)}" y="${at(middle - 9)}" width="${at(x(value.mean) - left)}" height="18" fill="${colourOf(i)}" fill-opacity="0.6"><title>${escaped(`${label}: ${words(value)}`)}</title></rect>`,
      rule(x(value.low), middle, x(value.high), middle, ` stroke-width="2"`),
      ...[value.low, value.high].map((end) =>
        rule(x(end), middle - 5, x(end), middle + 5, ` stroke-width="2"`),
      ),
      text(left - 8, middle + 4, "end", label),
      text(width - 4, middle + 4, "end", `${value.mean.toFixed(3)}, ${value.seeds} seeds`),
    ];
  });
  const axis = ticks.flatMap((tick) => [
    rule(x(tick), top, x(tick), bottom, faint),
    text(x(tick), bottom + 16, "middle", String(tick)),
  ]);
  const name = text((left + width - 130) / 2, bottom + 32, "middle", figure.y);
  return page(width, bottom + 42, figure.title, [...axis, ...parts, name]);
}

export const drawn = (figure: Figure): string =>
  figure.kind === "bars" ? drawnBars(figure) : drawnLines(figure);
