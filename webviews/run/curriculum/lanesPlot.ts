/** Draws the curriculum's lanes on a canvas: a cell's shade is its pass rate, an edge marks all wrong and all right. */
import type { CurriculumOverview } from "../../../shared/protocol/protocol.ts";
import { withAlpha } from "../../shared/color.ts";
import type { Mark } from "../../shared/plot.ts";
import type { Theme } from "../../shared/theme.ts";
import type { StepScale } from "./boundaries.ts";
import { columnCount, columnOf, type Area, type CellPlace } from "./lanesModel.ts";

const laneHeight = 20;
const stripHeight = 18;
const gap = 2;
const edge = 3;

interface LanesPicture {
  readonly overview: CurriculumOverview;
  readonly marks: readonly Mark[];
  readonly cursor: CellPlace | null;
  readonly chosen: readonly Area[];
  readonly theme: Theme;
}

/** 0 is still seen as drawn, 1 is full. */
export const shade = (rate: number): number => 0.1 + 0.85 * Math.min(1, Math.max(0, rate));

const heightOf = (overview: CurriculumOverview): number => stripHeight + overview.lanes.length * laneHeight;

/** The cell under a point, in CSS pixels from the canvas's corner. */
export function cellUnder(overview: CurriculumOverview, width: number, x: number, y: number): CellPlace {
  const columns = columnCount(overview);
  return {
    lane: Math.min(overview.lanes.length - 1, Math.max(0, Math.floor((y - stripHeight) / laneHeight))),
    column: Math.min(columns - 1, Math.max(0, Math.floor((x / width) * columns))),
  };
}

/** Where a step begins, in CSS pixels. */
function xOf(overview: CurriculumOverview, width: number, step: number): number {
  return ((step - overview.from) / (columnCount(overview) * overview.width)) * width;
}

export const scaleOf = (overview: CurriculumOverview, width: number): StepScale => ({
  from: overview.from,
  to: overview.to,
  xOf: (step) => xOf(overview, width, step),
  stepAt: (x) => overview.from + (x / width) * columnCount(overview) * overview.width,
});

export function drawLanes(canvas: HTMLCanvasElement, width: number, picture: LanesPicture): void {
  const context = canvas.getContext("2d");
  if (context === null) return;
  const height = heightOf(picture.overview);
  const ratio = devicePixelRatio;
  canvas.width = Math.round(width * ratio);
  canvas.height = Math.round(height * ratio);
  canvas.style.width = `${width}px`;
  canvas.style.height = `${height}px`;
  context.setTransform(ratio, 0, 0, ratio, 0, 0);
  drawCells(context, width, picture);
  drawMarks(context, width, height, picture);
  drawFrames(context, width, picture);
}

function drawCells(
  context: CanvasRenderingContext2D,
  width: number,
  { overview, theme }: LanesPicture,
): void {
  const cell = width / columnCount(overview);
  const base = theme.palette[0] ?? theme.foreground;
  const inner = cell > 5 ? cell - 1 : cell;
  overview.lanes.forEach(({ columns, rates }, lane) => {
    const top = stripHeight + lane * laneHeight;
    const tall = laneHeight - gap;
    context.fillStyle = withAlpha(theme.muted, 0.08);
    context.fillRect(0, top, width, tall);
    columns.forEach((column, i) => {
      const rate = rates[i];
      if (rate === null || rate === undefined) return;
      const left = column * cell;
      context.fillStyle = withAlpha(base, shade(rate));
      context.fillRect(left, top, inner, tall);
      if (rate === 0 || rate === 1) {
        context.fillStyle = rate === 0 ? theme.bad : theme.good;
        context.fillRect(left, rate === 0 ? top + tall - edge : top, inner, edge);
      }
    });
  });
}

/** Where a stage begins. */
function drawMarks(
  context: CanvasRenderingContext2D,
  width: number,
  height: number,
  { overview, marks, theme }: LanesPicture,
): void {
  context.font = theme.font;
  context.textBaseline = "middle";
  let free = 0;
  for (const mark of marks) {
    const x = Math.round(xOf(overview, width, mark.step)) + 0.5;
    if (x < 0 || x > width) continue;
    context.strokeStyle = withAlpha(theme.foreground, 0.7);
    context.lineWidth = 1;
    context.setLineDash([2, 3]);
    context.beginPath();
    context.moveTo(x, 0);
    context.lineTo(x, height);
    if (x > 1) context.stroke();
    const room = context.measureText(mark.name).width + 8;
    if (x < free || x + room > width) continue;
    context.fillStyle = theme.muted;
    context.fillText(mark.name, x + 4, stripHeight / 2);
    free = x + room;
  }
  context.setLineDash([]);
}

function drawFrames(
  context: CanvasRenderingContext2D,
  width: number,
  { overview, cursor, chosen, theme }: LanesPicture,
): void {
  const cell = width / columnCount(overview);
  const frame = (one: CellPlace, other: CellPlace, color: string, stroke: number): void => {
    const [left, right] = [Math.min(one.column, other.column), Math.max(one.column, other.column) + 1];
    const [top, bottom] = [Math.min(one.lane, other.lane), Math.max(one.lane, other.lane) + 1];
    const inset = stroke / 2;
    const area = [
      left * cell + inset,
      stripHeight + top * laneHeight - gap / 2 + inset,
      Math.max(1, (right - left) * cell - stroke),
      (bottom - top) * laneHeight - stroke,
    ] as const;
    context.strokeStyle = color;
    context.lineWidth = stroke;
    context.strokeRect(...area);
  };
  for (const { from, to } of chosen) frame(from, to, theme.focus, 2);
  if (cursor !== null) frame(cursor, cursor, theme.foreground, 1);
}

/** The column of a step where it is in view. */
export const columnInView = (overview: CurriculumOverview, step: number | null): number | null =>
  step === null || step < overview.from || step > overview.to ? null : columnOf(overview, step);
