/** A hatch: what is there and says nothing. */
import { withAlpha } from "./color.ts";

const size = 8;
const made = new Map<string, CanvasPattern>();

export function hatchOf(context: CanvasRenderingContext2D, color: string): CanvasPattern | string {
  const key = `${color} ${devicePixelRatio}`;
  const known = made.get(key);
  if (known !== undefined) return known;
  const tile = document.createElement("canvas");
  const side = Math.round(size * devicePixelRatio);
  [tile.width, tile.height] = [side, side];
  const pen = tile.getContext("2d");
  const plain = withAlpha(color, 0.1);
  if (pen === null) return plain;
  pen.strokeStyle = withAlpha(color, 0.6);
  pen.lineWidth = devicePixelRatio;
  for (const shift of [-side, 0, side]) {
    pen.moveTo(shift - 1, side + 1);
    pen.lineTo(shift + side + 1, -1);
  }
  pen.stroke();
  const pattern = context.createPattern(tile, "repeat") ?? plain;
  if (typeof pattern !== "string") made.set(key, pattern);
  return pattern;
}
