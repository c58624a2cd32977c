/** How much a chart tells: lanes in which the run moves come before those in which only noise does. Pure. */
import { firstWhere } from "../../../shared/lib/firstWhere.ts";
import type { ChartModel } from "../../shared/chartModel.ts";
import type { PlotValue } from "../../shared/columns.ts";

/** Pieces that a curve is divided into; noise within them is measured, movement between them. */
const pieces = 12;

/** Distance between the lowest and the highest piece, in deviations within the pieces: about 1 for noise alone. */
export function movement(values: readonly PlotValue[], least = 0): number {
  const known = values.filter((value): value is number => value !== null && Number.isFinite(value));
  if (known.length < pieces) return 0;
  const means: number[] = [];
  let within = 0;
  for (let i = 0; i < pieces; i++) {
    const piece = known.slice(
      Math.floor((i * known.length) / pieces),
      Math.floor(((i + 1) * known.length) / pieces),
    );
    const mean = piece.reduce((sum, value) => sum + value, 0) / piece.length;
    means.push(mean);
    within += piece.reduce((sum, value) => sum + (value - mean) ** 2, 0);
  }
  const moved = Math.max(...means) - Math.min(...means);
  const noise = Math.sqrt(within / Math.max(1, known.length - pieces));
  // A quarter of what the axis spans at the least is the smallest movement that can be seen.
  return moved / Math.max(noise, least / 4, 1e-12 * Math.max(1, Math.abs(means[0]!)));
}

const highest = 12;

/** Of the steps in view. Coarse, so that what tells about as much stays in the order in which it is looked for. */
export function information(
  { steps, lines, least, empty }: ChartModel,
  [from, to]: readonly [number, number],
): number {
  if (empty !== null) return -1;
  const first = firstWhere(steps.length, (i) => steps[i]! >= from);
  const end = firstWhere(steps.length, (i) => steps[i]! > to);
  const moved = lines.map(({ raw }) => movement(raw.slice(first, end), least));
  return Math.round(Math.min(highest, Math.max(0, ...moved)) / 2);
}
