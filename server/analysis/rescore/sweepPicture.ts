/** A sweep as a small SVG, in colours that light and dark themes both bear. */
import { formatNumber } from "../../../shared/lib/format.ts";
import type { SweepPoint } from "../../../shared/rollouts/rescore.ts";

const [width, height] = [380, 150];
const frame = { left: 34, right: 12, top: 22, bottom: 26 };
const colours = { share: "#2f7fd6", flips: "#bf6a00", axis: "#7c7c7c" };

/** @param signed rollouts that have an advantage: sign flips are drawn as a part of them */
export function sweepPicture(points: readonly SweepPoint[], weight: number, signed: number): string {
  const weights = points.map((point) => point.weight);
  const [low, high] = [Math.min(...weights), Math.max(...weights)];
  const x = (value: number): number =>
    frame.left + ((value - low) / (high - low || 1)) * (width - frame.left - frame.right);
  const y = (part: number): number => height - frame.bottom - part * (height - frame.top - frame.bottom);
  const line = (parts: readonly number[], colour: string): string =>
    `<polyline fill="none" stroke="${colour}" stroke-width="2" points="${points
      .map((point, index) => `${x(point.weight).toFixed(1)},${y(parts[index]!).toFixed(1)}`)
      .join(" ")}"/>`;
  const word = (at: number, down: number, anchor: string, colour: string, text: string): string =>
    `<text x="${at.toFixed(1)}" y="${down.toFixed(1)}" text-anchor="${anchor}" fill="${colour}">${text}</text>`;
  const rule = (x1: number, y1: number, x2: number, y2: number, dash = ""): string =>
    `<line x1="${x1.toFixed(1)}" y1="${y1.toFixed(1)}" x2="${x2.toFixed(1)}" y2="${y2.toFixed(1)}" stroke="${colours.axis}"${dash}/>`;
  const flips = points.map(({ signFlips }) => (signed === 0 ? 0 : signFlips / signed));
  return [
    `<svg xmlns="http://www.w3.org/2000/svg" width="${width}" height="${height}" font-family="sans-serif" font-size="11">`,
    rule(frame.left, y(0), width - frame.right, y(0)),
    rule(frame.left, y(1), frame.left, y(0)),
    rule(x(weight), y(1), x(weight), y(0), ` stroke-dasharray="3 3"`),
    word(frame.left - 4, y(1) + 4, "end", colours.axis, "100%"),
    word(frame.left - 4, y(0) + 4, "end", colours.axis, "0"),
    word(frame.left, height - 8, "start", colours.axis, formatNumber(weights[0])),
    word(width - frame.right, height - 8, "end", colours.axis, formatNumber(weights.at(-1))),
    word(x(weight), height - 8, "middle", colours.axis, `now ${formatNumber(weight)}`),
    line(
      points.map(({ share }) => share),
      colours.share,
    ),
    line(flips, colours.flips),
    word(frame.left, 14, "start", colours.share, "share of the spread"),
    word(width - frame.right, 14, "end", colours.flips, "advantages whose sign flips"),
    "</svg>",
  ].join("");
}
