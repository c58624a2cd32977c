/** Since when a metric has been on its way to what it is now, and until when. */
import { changeIn } from "./change.ts";
import type { Moment } from "./moment.ts";
import { window } from "./trail.ts";

export type Way = "fall" | "rise";

/** Steps: what takes less than half of a window is said to happen at one step. */
const sharp = window / 2;

/** The first step off the level that it had before; null: it does not differ from that beyond noise. */
export function onsetOf(moment: Moment, metric: string, way: Way): number | null {
  const { places, values } = sinceBefore(moment, metric, way);
  const change = changeIn(values);
  return change === null ? null : moment.stepAt(places[change.begin + 1]!);
}

/** The first step on the level that it has now; null: it went there at once. @param since the first off the one before */
export function endOf(moment: Moment, metric: string, way: Way, since: number): number | null {
  const { places, values } = sinceBefore(moment, metric, way);
  const first = places.findIndex((place) => moment.stepAt(place) >= since);
  const change = first < 1 ? null : changeIn(values, first - 1);
  return change === null || change.end - first < sharp ? null : moment.stepAt(places[change.end]!);
}

interface Known {
  readonly places: readonly number[];
  readonly values: readonly number[];
}

/** From the `window` steps on whose mean it has moved away from most; empty: it is not on this way. */
function sinceBefore(moment: Moment, metric: string, way: Way): Known {
  const trail = moment.trail(metric);
  const now = trail.last().mean;
  const side = way === "fall" ? 1 : -1;
  let [before, farthest] = [trail.begin, 0];
  for (let begin = trail.begin; begin + window < trail.length; begin++) {
    const distance = side * (trail.over(begin, begin + window).mean - now);
    if (distance > farthest) [farthest, before] = [distance, begin];
  }
  const places: number[] = [];
  const values: number[] = [];
  if (farthest === 0) return { places, values };
  for (let place = before; place < trail.length; place++) {
    const { mean, count } = trail.over(place, place + 1);
    if (count === 0) continue;
    places.push(place);
    values.push(mean);
  }
  return { places, values };
}
