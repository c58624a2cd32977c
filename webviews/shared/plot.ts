/** Draws a chart model with uPlot: options and data only; what surrounds the canvas is chart.ts. */
import uPlot from "uplot";
import { axisRange } from "./axis.ts";
import { formatTicks, formatValue, isBelow, type ChartModel, type ChartLine } from "./chartModel.ts";
import { withAlpha } from "./color.ts";
import type { PlotValue } from "./columns.ts";
import { pixelColumns } from "./envelope.ts";
import type { Gutters } from "./gutters.ts";
import { hatchOf } from "./hatch.ts";
import { dashes, type Theme } from "./theme.ts";
import { toneColor } from "./toneColor.ts";
import { ticksOf, type XAxis } from "./xAxis.ts";

export interface Mark {
  readonly step: number;
  readonly name: string;
}
interface PlotOptions {
  readonly width: number;
  readonly height: number;
  readonly theme: Theme;
  readonly marks: readonly Mark[];
  /** Where the pointer is, in steps; null once it has left. */
  readonly pointed: (at: number | null) => void;
  readonly selected: (from: number, to: number) => void;
  readonly x: XAxis;
  /** Of a lane: the room at its sides. It has no axis of steps of its own. */
  readonly gutters: Gutters | null;
}

/** Hidden columns of a line: the ends of its band and of its spread, which the axis has to make room for. */
const around = ({ band, spread }: ChartLine): readonly (readonly PlotValue[])[] => [
  ...(band === undefined ? [] : [band.low, band.high]),
  ...(spread === undefined ? [] : [spread.low, spread.high]),
];

/** To uPlot, undefined is passed over and null breaks a line. */
const drawable = (value: PlotValue): number | null | undefined =>
  value === null ? undefined : Number.isFinite(value) ? value : null;

/** Columns in the order of `seriesOf`: the steps, then for each line what is around it and itself. */
export function columnsOf(model: ChartModel, x: XAxis): uPlot.AlignedData {
  const columns = model.lines.flatMap((line) => [...around(line), line.values]);
  return [model.steps.map((step) => x.of(step)), ...columns.map((column) => column.map(drawable))];
}

/** Equal for models that one plot can show by replacing its data. */
export const shapeOf = (model: ChartModel): string =>
  JSON.stringify([
    model.limits,
    model.least,
    model.scale,
    model.lines.map((line) => [
      line.name,
      line.style,
      line.tone,
      line.axis,
      line.band !== undefined,
      line.style === "area" && isBelow(line.values),
      around(line).length,
    ]),
  ]);

function seriesOf(model: ChartModel, theme: Theme): uPlot.Series[] {
  const hidden = (scale: string): uPlot.Series => ({
    scale,
    stroke: "transparent",
    width: 0,
    points: { show: false },
  });
  return model.lines.flatMap((line) => {
    const color = toneColor(line, theme);
    const scale = line.axis === "left" ? "y" : "right";
    const area = line.style === "area" || line.style === "hatch";
    const own: uPlot.Series = {
      label: line.name,
      scale,
      stroke: color,
      width: line.aside === true ? 1 : area ? theme.stroke - 0.75 : theme.stroke,
      dash: [...dashes[line.dash % dashes.length]!],
      spanGaps: line.style === "points",
      points:
        line.style === "points"
          ? { show: true, size: 7, width: theme.stroke, stroke: color, fill: theme.background }
          : { show: (plot) => plot.data[0].length === 1, size: 6, fill: color },
      ...(line.style === "area" ? { fill: withAlpha(color, 0.28) } : {}),
      ...(line.style === "hatch"
        ? { fill: (plot: uPlot) => hatchOf(plot.ctx, color), fillTo: model.limits?.[1] ?? 1 }
        : {}),
    };
    return [...around(line).map(() => hidden(scale)), own];
  });
}

/** Fills between the ends of a band, and between an area and the one below it. */
function bandsOf(model: ChartModel, theme: Theme): uPlot.Band[] {
  const bands: uPlot.Band[] = [];
  let at = 1;
  let below: { readonly at: number; readonly down: boolean } | undefined;
  for (const line of model.lines) {
    const color = toneColor(line, theme);
    if (line.band !== undefined && line.style !== "points")
      bands.push({ series: [at + 1, at], fill: withAlpha(color, 0.16) });
    at += around(line).length;
    if (line.style === "area") {
      const down = isBelow(line.values);
      if (below?.down === down)
        bands.push({ series: [at, below.at], fill: withAlpha(color, 0.28), dir: down ? 1 : -1 });
      below = { at, down };
    }
    at++;
  }
  return bands;
}

function axesOf(model: ChartModel, { theme, x, gutters }: PlotOptions): uPlot.Axis[] {
  const base = { stroke: theme.muted, font: theme.font, ticks: { show: false }, gap: 6 };
  const grid = { stroke: withAlpha(theme.grid, theme.kind.startsWith("high") ? 0.35 : 0.16), width: 1 };
  const axis = (side: "left" | "right"): uPlot.Axis => {
    const format = model.lines.find((line) => line.axis === side)?.format ?? "number";
    return {
      ...base,
      scale: side === "left" ? "y" : "right",
      side: side === "left" ? 3 : 1,
      size: (plot, values) => {
        const width = widthOf(plot, values, theme);
        return gutters === null ? width : gutters.need(side, width);
      },
      space: gutters === null ? 34 : 26,
      grid: side === "left" ? grid : { show: false },
      values: (_, splits) =>
        model.scale === undefined
          ? formatTicks(splits, format)
          : splits.map((split) => ((split as number | null) === null ? "" : formatValue(split, format))),
    };
  };
  const steps: uPlot.Axis = {
    ...base,
    show: gutters === null,
    size: 24,
    grid: { show: false },
    splits: (plot, _, low, high) => [...ticksOf(low, high, plot.width / labelRoom, x.least)],
    values: (_, splits) => splits.map((split) => x.format(split)),
  };
  return [steps, axis("left"), ...(model.lines.some((line) => line.axis === "right") ? [axis("right")] : [])];
}

const leastAxis = 40;
/** CSS pixels from one label of the steps to the next. */
const labelRoom = 72;

/** Widths of labels, by font and text: an axis asks for them again and again, and a font costs as much as a line. */
const widths = new Map<string, number>();
const mostWidths = 5_000;

function textWidth({ ctx }: uPlot, text: string, font: string): number {
  const key = `${font}\n${text}`;
  const known = widths.get(key);
  if (known !== undefined) return known;
  ctx.save();
  ctx.font = font;
  const { width } = ctx.measureText(text);
  ctx.restore();
  if (widths.size >= mostWidths) widths.clear();
  widths.set(key, width);
  return width;
}

/** As wide as the longest label of the axis. */
const widthOf = (plot: uPlot, values: readonly string[] | null, { font }: Theme): number =>
  Math.ceil(Math.max(leastAxis, ...(values ?? []).map((value) => textWidth(plot, value, font) + 12)));

/** Of lines in buckets, how far their points reach in each pixel column. */
function drawSpreads(plot: uPlot, model: ChartModel, { theme, x: axis }: PlotOptions): void {
  const { ctx, bbox } = plot;
  const { steps, begins = steps } = model;
  const [left, right] = [Math.round(bbox.left), Math.round(bbox.left + bbox.width) - 1];
  ctx.save();
  for (const line of model.lines) {
    if (line.spread === undefined) continue;
    const scale = line.axis === "left" ? "y" : "right";
    const { x, low, high } = pixelColumns(
      { begins, steps },
      line.spread,
      (step) => plot.valToPos(axis.of(step), "x", true),
      [left, right],
    );
    ctx.fillStyle = withAlpha(toneColor(line, theme), 0.3);
    x.forEach((at, i) => {
      const top = Math.max(bbox.top, plot.valToPos(high[i]!, scale, true));
      const bottom = Math.min(bbox.top + bbox.height, plot.valToPos(low[i]!, scale, true));
      ctx.fillRect(at, top, 1, Math.max(1, bottom - top));
    });
  }
  ctx.restore();
}

/** Of points, how far their intervals reach. */
function drawIntervals(plot: uPlot, model: ChartModel, { theme, x }: PlotOptions): void {
  const { ctx, bbox } = plot;
  ctx.save();
  ctx.beginPath();
  ctx.rect(bbox.left, bbox.top, bbox.width, bbox.height);
  ctx.clip();
  ctx.lineWidth = 1.5 * devicePixelRatio;
  const foot = 3 * devicePixelRatio;
  for (const line of model.lines) {
    if (line.style !== "points" || line.band === undefined) continue;
    const scale = line.axis === "left" ? "y" : "right";
    ctx.strokeStyle = withAlpha(toneColor(line, theme), 0.75);
    ctx.beginPath();
    model.steps.forEach((step, i) => {
      const [low, high] = [line.band?.low[i], line.band?.high[i]];
      if (low == null || high == null) return;
      const at = plot.valToPos(x.of(step), "x", true);
      const ends = [low, high].map((value) => plot.valToPos(value, scale, true));
      ctx.moveTo(at, ends[0]!);
      ctx.lineTo(at, ends[1]!);
      for (const end of ends) {
        ctx.moveTo(at - foot, end);
        ctx.lineTo(at + foot, end);
      }
    });
    ctx.stroke();
  }
  ctx.restore();
}

/** Where a stage begins: a dotted line with the stage's name, which lanes leave to their common axis. */
function drawMarks(plot: uPlot, { marks, theme, x: axis, gutters }: PlotOptions): void {
  const { ctx, bbox } = plot;
  const ratio = devicePixelRatio;
  ctx.save();
  ctx.font = theme.font.replace(/^\d+px/, `${10 * ratio}px`);
  ctx.textBaseline = "top";
  ctx.textAlign = "left";
  let free = bbox.left;
  for (const mark of marks) {
    const x = Math.round(plot.valToPos(axis.of(mark.step), "x", true));
    if (x < bbox.left || x > bbox.left + bbox.width) continue;
    ctx.strokeStyle = withAlpha(theme.muted, 0.55);
    ctx.lineWidth = ratio;
    ctx.setLineDash([2 * ratio, 3 * ratio]);
    ctx.beginPath();
    ctx.moveTo(x, bbox.top);
    ctx.lineTo(x, bbox.top + bbox.height);
    if (x > bbox.left + ratio) ctx.stroke();
    const width = ctx.measureText(mark.name).width + 8 * ratio;
    if (gutters !== null || x < free || x + width > bbox.left + bbox.width) continue;
    const at = [x + 4 * ratio, bbox.top + 2 * ratio] as const;
    // Around its letters nothing of the grid or of an area is seen.
    ctx.setLineDash([]);
    ctx.lineWidth = 3 * ratio;
    ctx.strokeStyle = theme.background;
    ctx.strokeText(mark.name, ...at);
    ctx.fillStyle = theme.muted;
    ctx.fillText(mark.name, ...at);
    free = x + width;
  }
  ctx.restore();
}

/** The pointer's own moves alone: uPlot's `setCursor` hook also fires when data or axis change under a still cursor. */
function listenToPointer(plot: uPlot, { pointed, x }: PlotOptions): void {
  plot.over.addEventListener("mousemove", (event) => {
    const { left } = plot.over.getBoundingClientRect();
    pointed(x.at(plot.posToVal(event.clientX - left, "x")));
  });
  plot.over.addEventListener("mouseleave", () => pointed(null));
  // uPlot remembers where the plot lies on the page; what is above it may have grown since.
  plot.over.addEventListener("mousedown", () => plot.syncRect(false), true);
}

/** By series: the colour of a line's dot at the cursor; what is around a line has none. */
const dotColors = (model: ChartModel, theme: Theme): readonly (string | undefined)[] => [
  undefined,
  ...model.lines.flatMap((line) => [
    ...around(line).map(() => undefined),
    line.aside === true ? undefined : toneColor(line, theme),
  ]),
];

/** @param shown what the plot's data were made of, which may be newer than `model` */
export function createPlot(
  model: ChartModel,
  into: HTMLElement,
  options: PlotOptions,
  shown: () => ChartModel,
): uPlot {
  const { theme, gutters } = options;
  const dots = dotColors(model, theme);
  const fixed = model.limits;
  const stacked = model.lines.some((line) => line.style === "area");
  const rights = model.lines.filter((line) => line.axis === "right");
  const { scale } = model;
  const left: uPlot.Scale = {
    ...(scale?.kind === "log" ? { distr: 3, log: 10 } : {}),
    ...(scale?.kind === "symlog" ? { distr: 4, log: 10, asinh: scale.linear } : {}),
    range: (_, low, high) =>
      scale?.kind === "log"
        ? [10 ** Math.floor(Math.log10(low ?? 1)), 10 ** Math.ceil(Math.log10(high ?? 10) + 1e-9)]
        : fixed === null
          ? axisRange([low ?? 0, high ?? 1], stacked, model.least)
          : [fixed[0], fixed[1]],
  };
  // A share that stays small is drawn against a tenth, so that it does not look like noise on the axis.
  const shares = rights.every((line) => line.format === "fraction");
  const right: uPlot.Scale = {
    range: (_, low, high) =>
      shares ? [0, Math.max(0.1, Math.min(1, (high ?? 0) * 1.15))] : axisRange([low ?? 0, high ?? 1], true),
  };
  return new uPlot(
    {
      width: options.width,
      height: options.height,
      padding: [
        6,
        rights.length > 0 ? 0 : gutters === null ? 12 : () => gutters.right,
        gutters === null ? 0 : 5,
        0,
      ],
      legend: { show: false },
      scales: { x: { time: false }, y: left, ...(rights.length > 0 ? { right } : {}) },
      series: [{}, ...seriesOf(model, theme)],
      bands: bandsOf(model, theme),
      axes: axesOf(model, options),
      cursor: {
        y: false,
        drag: { x: true, y: false, setScale: false, dist: 6 },
        points: {
          size: 9,
          width: 2,
          stroke: (_, index) => (dots[index] === undefined ? "transparent" : theme.background),
          fill: (_, index) => dots[index] ?? "transparent",
        },
      },
      hooks: {
        ready: [(plot) => listenToPointer(plot, options)],
        setSelect: [
          (plot) => {
            const { left, width } = plot.select;
            if (width < 6) return;
            const [from, to] = [left, left + width].map((at) => options.x.at(plot.posToVal(at, "x")));
            options.selected(from!, to!);
            plot.setSelect({ left: 0, top: 0, width: 0, height: 0 }, false);
          },
        ],
        drawAxes: [(plot) => drawSpreads(plot, shown(), options)],
        draw: [(plot) => drawIntervals(plot, shown(), options), (plot) => drawMarks(plot, options)],
      },
    },
    columnsOf(model, options.x),
    into,
  );
}
