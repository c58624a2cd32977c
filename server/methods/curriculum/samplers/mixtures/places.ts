/** Points of a box drawn from Gaussians over place and signal, the last of their dimensions. */
import type { Random } from "../../../../lib/random.ts";
import { fromUnit, unitPoint } from "../../points.ts";
import type { Known } from "../../../../core/slots/curriculum.ts";
import { drawComponent, logDensity, type Component, type Mixture } from "./gaussianMixture.ts";
import { drawFrom, normalise } from "../independent.ts";

/** From which component of a mixture a point was drawn; −1: anywhere in the box. */
export interface Drawn {
  readonly arm: number;
  readonly component: number;
}

/** By the mean signal of the components, none of which is below 0. */
function oddsOf(mixture: Mixture): Float64Array {
  const signals = Float64Array.from(mixture, ({ mean }) => Math.max(0, mean.at(-1)!));
  return normalise(signals, () => true);
}

/** @param uniform share of the points that come from anywhere in the box; all of them where there is no component */
export function drawPlaces(
  known: Known,
  n: number,
  mixture: Mixture,
  uniform: number,
  random: Random,
): Drawn[] {
  const { box, place } = known;
  if (box === undefined || place === undefined)
    return drawFrom(densities(known, mixture, uniform), n, random).map((arm) => ({ arm, component: -1 }));
  const odds = oddsOf(mixture);
  return Array.from({ length: n }, (_, i) => {
    const stream = random.fork(i);
    const component =
      mixture.length === 0 || stream.next() < uniform
        ? -1
        : (drawFrom(odds, 1, stream.fork("component"))[0] ?? 0);
    const unit =
      component < 0
        ? box.map(() => stream.next())
        : [...drawComponent(mixture[component]!, stream.fork("point")).subarray(0, box.length)];
    return { arm: place(fromUnit(box, unit)), component };
  });
}

/** Densities at the points that are arms, scaled to a sum of 1: a point that comes is usually a new one. */
export function densities(known: Known, mixture: Mixture, uniform: number): Float64Array {
  const odds = oddsOf(mixture);
  const places = mixture.map(placeOf);
  const weights = Float64Array.from({ length: known.size }, (_, arm) => {
    const point = unitPoint(known.arms, arm);
    if (mixture.length === 0 || point === undefined) return 1;
    const density = places.map((one, i) => (odds[i]! > 0 ? odds[i]! * Math.exp(logDensity(one, point)) : 0));
    return uniform + (1 - uniform) * density.reduce((sum, x) => sum + x, 0);
  });
  return normalise(weights, (arm) => known.open(arm));
}

/** The component's distribution of places, the signal left out: the first rows of the triangle. */
function placeOf({ mean, factor }: Component): Component {
  const [all, d] = [mean.length, mean.length - 1];
  return {
    weight: 1,
    mean: mean.subarray(0, d),
    factor: Float64Array.from({ length: d * d }, (_, at) => factor[Math.floor(at / d) * all + (at % d)]!),
  };
}
