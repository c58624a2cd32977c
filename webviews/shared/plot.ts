/** Draws a chart model with uPlot: options and data only; what surrounds the canvas is chart.ts. */
import uPlot from "uplot";
import { axisRange } from "./axis.ts";
import { formatTicks, type ChartModel, type ChartLine } from "./chartModel.ts";
import { withAlpha } from "./color.ts";
import type { PlotValue } from "./columns.ts";
import { pixelColumns } from "./envelope.ts";
import { dashes, type Theme } from "./theme.ts";

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
}

export const toneColor = (line: ChartLine, theme: Theme): string =>
  typeof line.tone === "number" ? theme.palette[line.tone % theme.palette.length]! : theme[line.tone];

/** Hidden columns of a line: the ends of its band and of its spread, which the axis has to make room for. */
const around = ({ band, spread }: ChartLine): readonly (readonly PlotValue[])[] => [
  ...(band === undefined ? [] : [band.low, band.high]),
  ...(spread === undefined ? [] : [spread.low, spread.high]),
];

/** To uPlot, undefined is passed over and null breaks a line. */
const drawable = (value: PlotValue): number | null | undefined =>
  value === null ? undefined : Number.isFinite(value) ? value : null;

/** Columns in the order of `seriesOf`: the steps, then for each line what is around it and itself. */
export function columnsOf(model: ChartModel): uPlot.AlignedData {
  const columns = model.lines.flatMap((line) => [...around(line), line.values]);
  return [[...model.steps], ...columns.map((column) => column.map(drawable))];
}

/** Equal for models that one plot can show by replacing its data. */
export const shapeOf = (model: ChartModel): string =>
  JSON.stringify([
    model.limits,
    model.lines.map((line) => [
      line.name,
      line.style,
      line.tone,
      line.axis,
      line.band !== undefined,
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
    const area = line.style === "area";
    const own: uPlot.Series = {
      label: line.name,
      scale,
      stroke: color,
      width: area ? theme.stroke - 0.75 : theme.stroke,
      dash: [...dashes[line.dash % dashes.length]!],
      spanGaps: line.style === "points",
      points:
        line.style === "points"
          ? { show: true, size: 7, width: theme.stroke, stroke: color, fill: theme.background }
          : { show: (plot) => plot.data[0].length === 1, size: 6, fill: color },
      ...(area ? { fill: withAlpha(color, 0.28) } : {}),
    };
    return [...around(line).map(() => hidden(scale)), own];
  });
}

/** Fills between the ends of a band, and between an area and the one below it. */
function bandsOf(model: ChartModel, theme: Theme): uPlot.Band[] {
  const bands: uPlot.Band[] = [];
  let at = 1;
  let below: number | null = null;
  for (const line of model.lines) {
    const color = toneColor(line, theme);
    if (line.band !== undefined) bands.push({ series: [at + 1, at], fill: withAlpha(color, 0.16) });
    at += around(line).length;
    if (line.style === "area") {
      if (below !== null) bands.push({ series: [at, below], fill: withAlpha(color, 0.28) });
      below = at;
    }
    at++;
  }
  return bands;
}

function axesOf(model: ChartModel, theme: Theme): uPlot.Axis[] {
  const base = { stroke: theme.muted, font: theme.font, ticks: { show: false }, gap: 6 };
  const grid = { stroke: withAlpha(theme.grid, theme.kind.startsWith("high") ? 0.35 : 0.16), width: 1 };
  const axis = (side: "left" | "right"): uPlot.Axis => {
    const format = model.lines.find((line) => line.axis === side)?.format ?? "number";
    return {
      ...base,
      scale: side === "left" ? "y" : "right",
      side: side === "left" ? 3 : 1,
      size: (plot, values) => widthOf(plot, values, theme),
      space: 34,
      grid: side === "left" ? grid : { show: false },
      values: (_, splits) => formatTicks(splits, format),
    };
  };
  const steps: uPlot.Axis = {
    ...base,
    size: 24,
    space: 56,
    grid: { show: false },
    incrs: [
      1, 2, 5, 10, 20, 25, 50, 100, 200, 250, 500, 1000, 2000, 2500, 5000, 10_000, 20_000, 50_000, 100_000,
      1_000_000,
    ],
    values: (_, splits) => splits.map((split) => split.toLocaleString("en-US")),
  };
  return [steps, axis("left"), ...(model.lines.some((line) => line.axis === "right") ? [axis("right")] : [])];
}

const leastAxis = 40;

/** As wide as the longest label of the axis. */
function widthOf(plot: uPlot, values: readonly string[] | null, theme: Theme): number {
  const { ctx } = plot;
  ctx.save();
  ctx.font = theme.font;
  const widths = (values ?? []).map((value) => ctx.measureText(value).width);
  ctx.restore();
  return Math.ceil(Math.max(leastAxis, ...widths.map((width) => width + 12)));
}

/** Of lines in buckets, how far their points reach in each pixel column. */
function drawSpreads(plot: uPlot, model: ChartModel, theme: Theme): void {
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
      (step) => plot.valToPos(step, "x", true),
      [left, right],
    );
    ctx.fillStyle = withAlpha(toneColor(line, theme), 0.4);
    x.forEach((at, i) => {
      const top = Math.max(bbox.top, plot.valToPos(high[i]!, scale, true));
      const bottom = Math.min(bbox.top + bbox.height, plot.valToPos(low[i]!, scale, true));
      ctx.fillRect(at, top, 1, Math.max(1, bottom - top));
    });
  }
  ctx.restore();
}

/** Where a stage begins: a dotted line with the stage's name. */
function drawMarks(plot: uPlot, marks: readonly Mark[], theme: Theme): void {
  const { ctx, bbox } = plot;
  const ratio = devicePixelRatio;
  ctx.save();
  ctx.font = theme.font.replace(/^\d+px/, `${10 * ratio}px`);
  ctx.textBaseline = "top";
  ctx.textAlign = "left";
  let free = bbox.left;
  for (const mark of marks) {
    const x = Math.round(plot.valToPos(mark.step, "x", true));
    if (x < bbox.left || x > bbox.left + bbox.width) continue;
    ctx.strokeStyle = withAlpha(theme.muted, 0.55);
    ctx.lineWidth = ratio;
    ctx.setLineDash([2 * ratio, 3 * ratio]);
    ctx.beginPath();
    ctx.moveTo(x, bbox.top);
    ctx.lineTo(x, bbox.top + bbox.height);
    if (x > bbox.left + ratio) ctx.stroke();
    const width = ctx.measureText(mark.name).width + 8 * ratio;
    if (x < free || x + width > bbox.left + bbox.width) continue;
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
function listenToPointer(plot: uPlot, pointed: PlotOptions["pointed"]): void {
  plot.over.addEventListener("mousemove", (event) => {
    const { left } = plot.over.getBoundingClientRect();
    pointed(plot.posToVal(event.clientX - left, "x"));
  });
  plot.over.addEventListener("mouseleave", () => pointed(null));
}

/** By series: the colour of a line's dot at the cursor; what is around a line has none. */
const dotColors = (model: ChartModel, theme: Theme): readonly (string | undefined)[] => [
  undefined,
  ...model.lines.flatMap((line) => [...around(line).map(() => undefined), toneColor(line, theme)]),
];

/** @param shown what the plot's data were made of, which may be newer than `model` */
export function createPlot(
  model: ChartModel,
  into: HTMLElement,
  options: PlotOptions,
  shown: () => ChartModel,
): uPlot {
  const { theme } = options;
  const dots = dotColors(model, theme);
  const fixed = model.limits;
  const stacked = model.lines.some((line) => line.style === "area");
  const rights = model.lines.filter((line) => line.axis === "right");
  const left: uPlot.Scale = {
    range: (_, low, high) =>
      fixed === null ? axisRange([low ?? 0, high ?? 1], stacked) : [fixed[0], fixed[1]],
  };
  // A share that stays small is drawn against a tenth, so that it does not look like noise on the axis.
  const shares = rights.every((line) => line.format === "fraction");
  const right: uPlot.Scale = {
    range: (_, low, high) =>
      shares ? [0, Math.max(0.1, Math.min(1, (high ?? 0) * 1.15))] : axisRange([low ?? 0, high ?? 1], false),
  };
  return new uPlot(
    {
      width: options.width,
      height: options.height,
      padding: [6, rights.length > 0 ? 0 : 12, 0, 0],
      legend: { show: false },
      scales: { x: { time: false }, y: left, ...(rights.length > 0 ? { right } : {}) },
      series: [{}, ...seriesOf(model, theme)],
      bands: bandsOf(model, theme),
      axes: axesOf(model, theme),
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
        ready: [(plot) => listenToPointer(plot, options.pointed)],
        setSelect: [
          (plot) => {
            const { left, width } = plot.select;
            if (width < 6) return;
            options.selected(plot.posToVal(left, "x"), plot.posToVal(left + width, "x"));
            plot.setSelect({ left: 0, top: 0, width: 0, height: 0 }, false);
          },
        ],
        drawAxes: [(plot) => drawSpreads(plot, shown(), theme)],
        draw: [(plot) => drawMarks(plot, options.marks, theme)],
      },
    },
    columnsOf(model),
    into,
  );
}
