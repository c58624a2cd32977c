/** A chart as files: its values as CSV, its picture as SVG, drawn from the same model as the canvas. Pure. */
import type { ChartLine, ChartModel } from "./chartModel.ts";
import { formatTicks } from "./chartModel.ts";
import { axisRange } from "./axis.ts";
import { toneColor } from "./toneColor.ts";
import { dashes, type Theme } from "./theme.ts";
import { ticksOf, type XAxis } from "./xAxis.ts";

const cell = (text: string): string => (/[",\n]/.test(text) ? `"${text.replaceAll('"', '""')}"` : text);
const numberCell = (value: number | null | undefined): string =>
  value === null || value === undefined || Number.isNaN(value) ? "" : String(value);

/** A row a position of the axis. Where that holds several steps, `from_step` is its first and values are means. */
export function csvOf({ steps, begins, lines }: ChartModel): string {
  const reduced = begins?.some((begin, i) => begin !== steps[i]) === true;
  const head = [
    ...(reduced ? ["from_step"] : []),
    "step",
    ...lines.flatMap(({ name, band }) => [
      name,
      ...(band === undefined ? [] : [`${name} low`, `${name} high`]),
    ]),
  ];
  const rows = steps.map((step, i) => [
    ...(reduced ? [String(begins?.[i] ?? step)] : []),
    String(step),
    ...lines.flatMap(({ raw, band }) => [
      numberCell(raw[i]),
      ...(band === undefined ? [] : [numberCell(band.low[i]), numberCell(band.high[i])]),
    ]),
  ]);
  return [head, ...rows].map((row) => row.map(cell).join(",")).join("\n") + "\n";
}

const size = { width: 720, height: 320, left: 62, right: 62, top: 54, bottom: 42 } as const;
const escaped = (text: string): string => text.replace(/[&<>"]/g, (sign) => `&#${sign.charCodeAt(0)};`);

export interface Shown {
  readonly title: string;
  readonly model: ChartModel;
  readonly theme: Theme;
  readonly x: XAxis;
  readonly range: readonly [number, number];
}

/** Linear in its values, whatever the canvas shows: a picture for a page has to be read without its controls. */
export function svgOf({ title, model, theme, x, range: [from, to] }: Shown): string {
  const { width, height, left, right, bottom } = size;
  const [low, high] = [x.of(from), x.of(to)];
  const px = (step: number): number =>
    left + ((x.of(step) - low) / Math.max(1e-12, high - low)) * (width - left - right);
  const seen = model.steps.map((step) => step >= from && step <= to);
  const sides = (["left", "right"] as const).map((side) => scaleOf(model, side, seen));
  const parts: string[] = [];
  const text = (at: readonly [number, number], anchor: string, said: string, more = ""): void =>
    void parts.push(
      `<text x="${at[0].toFixed(1)}" y="${at[1].toFixed(1)}" text-anchor="${anchor}" fill="${theme.foreground}" ${more}>${escaped(said)}</text>`,
    );
  sides.forEach((side, i) => {
    if (side === null) return;
    const labels = formatTicks([...side.ticks], side.format);
    side.ticks.forEach((tick, at) => {
      const y = side.y(tick);
      if (i === 0)
        parts.push(
          `<line x1="${left}" x2="${width - right}" y1="${y}" y2="${y}" stroke="${theme.foreground}" stroke-opacity="0.15"/>`,
        );
      text([i === 0 ? left - 6 : width - right + 6, y + 4], i === 0 ? "end" : "start", labels[at] ?? "");
    });
  });
  for (const tick of ticksOf(low, high, 8, x.least))
    text(
      [left + ((tick - low) / Math.max(1e-12, high - low)) * (width - left - right), height - bottom + 18],
      "middle",
      x.format(tick),
    );
  text([width / 2, height - 6], "middle", x.name);
  text([left, 20], "start", title, 'font-weight="600"');
  let at = left;
  for (const line of model.lines) {
    const color = toneColor(line, theme);
    parts.push(
      `<line x1="${at}" x2="${at + 20}" y1="36" y2="36" stroke="${color}" stroke-width="2" stroke-dasharray="${dashes[line.dash % dashes.length]!.join(" ")}"/>`,
    );
    text([at + 25, 40], "start", line.name);
    at += 40 + 7 * line.name.length;
    const side = sides[line.axis === "left" ? 0 : 1];
    if (side != null) parts.push(curve(line, color, model, seen, px, side.y));
  }
  return `<svg xmlns="http://www.w3.org/2000/svg" width="${width}" height="${height}" viewBox="0 0 ${width} ${height}" font-family="sans-serif" font-size="12"><rect width="100%" height="100%" fill="${theme.background}"/>${parts.join("")}</svg>\n`;
}

function scaleOf(model: ChartModel, side: ChartLine["axis"], seen: readonly boolean[]) {
  const lines = model.lines.filter(({ axis }) => axis === side);
  if (lines.length === 0) return null;
  let [low, high] = [Number.POSITIVE_INFINITY, Number.NEGATIVE_INFINITY];
  for (const { values, band } of lines)
    for (const column of [values, band?.low ?? [], band?.high ?? []])
      column.forEach((value, i) => {
        if (value === null || !Number.isFinite(value) || seen[i] !== true) return;
        [low, high] = [Math.min(low, value), Math.max(high, value)];
      });
  if (low > high) [low, high] = [0, 1];
  const stacked = lines.some(({ style }) => style === "area");
  const [from, to] =
    side === "left" && model.limits !== null
      ? model.limits
      : axisRange([low, high], stacked, side === "left" ? model.least : 0);
  const { height, top, bottom } = size;
  const y = (value: number): number =>
    Number((height - bottom - ((value - from) / (to - from)) * (height - top - bottom)).toFixed(2));
  return { y, ticks: ticksOf(from, to, 5), format: lines[0]!.format };
}

/** Its pieces between gaps; filled down to 0 or up to the top where it is an area; dots and intervals of points. */
function curve(
  line: ChartLine,
  color: string,
  { steps, limits }: ChartModel,
  seen: readonly boolean[],
  px: (step: number) => number,
  y: (value: number) => number,
): string {
  const pieces: (readonly [number, number])[][] = [[]];
  const marks: string[] = [];
  steps.forEach((step, i) => {
    const value = line.values[i];
    if (value == null) return;
    if (Number.isNaN(value) || seen[i] !== true) return void pieces.push([]);
    const place = [Number(px(step).toFixed(1)), y(value)] as const;
    pieces.at(-1)!.push(place);
    const [low, high] = [line.band?.low[i], line.band?.high[i]];
    if (line.style !== "points") return;
    marks.push(`<circle cx="${place[0]}" cy="${place[1]}" r="3.5" fill="${color}"/>`);
    if (low != null && high != null)
      marks.push(
        `<line x1="${place[0]}" x2="${place[0]}" y1="${y(low)}" y2="${y(high)}" stroke="${color}"/>`,
      );
  });
  const dash = dashes[line.dash % dashes.length]!.join(" ");
  const drawn = pieces
    .filter((piece) => piece.length > 0)
    .map((piece) => {
      const path = piece.map((place, i) => `${i === 0 ? "M" : "L"}${place.join(" ")}`).join("");
      const base = y(line.style === "hatch" ? (limits?.[1] ?? 1) : 0);
      const fill =
        line.style === "area" || line.style === "hatch"
          ? `<path d="${path}L${piece.at(-1)![0]} ${base}L${piece[0]![0]} ${base}Z" fill="${color}" fill-opacity="0.15"/>`
          : "";
      return `${fill}<path d="${path}" fill="none" stroke="${color}" stroke-width="1.5" stroke-dasharray="${dash}"/>`;
    });
  return [...drawn, ...marks].join("");
}
