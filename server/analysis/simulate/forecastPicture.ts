/** A forecast as a small SVG: three areas, one upon the other, in colours that light and dark themes both bear. */
import { bands, type Forecast } from "./forecast.ts";

const [width, height] = [380, 130];
const frame = { left: 34, right: 12, top: 20, bottom: 22 };
const colours = { easy: "#4daf7c", middling: "#d18616", hard: "#c74e6b", axis: "#8a8a8a" };

export function forecastPicture(forecast: Forecast): string {
  const x = (step: number): number =>
    frame.left + (step / Math.max(1, forecast.length - 1)) * (width - frame.left - frame.right);
  const y = (part: number): number => height - frame.bottom - part * (height - frame.top - frame.bottom);
  const below = (step: number, band: number): number =>
    forecast[step]!.slice(0, band).reduce((sum, share) => sum + share, 0);
  const edge = (band: number): string[] =>
    forecast.map((_, step) => `${x(step).toFixed(1)},${y(below(step, band)).toFixed(1)}`);
  const word = (at: number, down: number, anchor: string, colour: string, text: string): string =>
    `<text x="${at.toFixed(1)}" y="${down.toFixed(1)}" text-anchor="${anchor}" fill="${colour}">${text}</text>`;
  return [
    `<svg xmlns="http://www.w3.org/2000/svg" width="${width}" height="${height}" font-family="sans-serif" font-size="11">`,
    ...bands.map(
      (band, i) =>
        `<polygon fill="${colours[band]}" fill-opacity="0.75" points="${[...edge(i), ...edge(i + 1).reverse()].join(" ")}"/>`,
    ),
    word(frame.left - 4, y(1) + 4, "end", colours.axis, "100%"),
    word(frame.left - 4, y(0) + 4, "end", colours.axis, "0"),
    word(frame.left, height - 6, "start", colours.axis, "step 0"),
    word(width - frame.right, height - 6, "end", colours.axis, String(forecast.length - 1)),
    ...bands.map((band, i) => word(frame.left + 70 * i, 13, "start", colours[band], band)),
    "</svg>",
  ].join("");
}
