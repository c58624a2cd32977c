/** Points of a box, drawn from Gaussians over point and signal; the signal is the last dimension. */
import type { Random } from "../../../../lib/random.ts";
import { fromUnit, unitPoint } from "../../points.ts";
import type { ArmPool } from "../../../../core/slots/fastArms.ts";
import { drawComponent, logDensity, type Component, type Mixture } from "./gaussianMixture.ts";
import { drawFrom, normalise } from "../../fast/lifted.ts";

/** A drawn point, and the component of the mixture it was drawn from; −1: anywhere in the box. */
interface DrawnPoint {
  readonly arm: number;
  readonly component: number;
}

/** Odds of the components: their mean signal, at least 0. */
function oddsOf(mixture: Mixture): Float64Array {
  const signals = Float64Array.from(mixture, ({ mean }) => Math.max(0, mean.at(-1)!));
  return normalise(signals, new Uint8Array(signals.length).fill(1));
}

/** @param uniform share of the points drawn anywhere in the box; without components, all */
export function drawPoints(
  pool: ArmPool,
  n: number,
  mixture: Mixture,
  uniform: number,
  random: Random,
): DrawnPoint[] {
  const { arms } = pool;
  const { box } = arms;
  if (box === undefined || arms.place === undefined)
    return drawFrom(densities(pool, mixture, uniform), n, random).map((arm) => ({ arm, component: -1 }));
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
    return { arm: arms.place!(fromUnit(box, unit)), component };
  });
}

/** Densities at the points that are arms, scaled to a sum of 1. A drawn point is usually a new arm. */
export function densities(pool: ArmPool, mixture: Mixture, uniform: number): Float64Array {
  const odds = oddsOf(mixture);
  const marginals = mixture.map(marginalOf);
  const weights = Float64Array.from({ length: pool.size }, (_, arm) => {
    const point = unitPoint(pool.arms, arm);
    if (mixture.length === 0 || point === undefined) return 1;
    const density = marginals.map((one, i) =>
      odds[i]! > 0 ? odds[i]! * Math.exp(logDensity(one, point)) : 0,
    );
    return uniform + (1 - uniform) * density.reduce((sum, x) => sum + x, 0);
  });
  return normalise(weights, pool.open);
}

/** The component's marginal distribution of points, without the signal: the first rows of the factor. */
function marginalOf({ mean, factor }: Component): Component {
  const [all, d] = [mean.length, mean.length - 1];
  return {
    weight: 1,
    mean: mean.subarray(0, d),
    factor: Float64Array.from({ length: d * d }, (_, at) => factor[Math.floor(at / d) * all + (at % d)]!),
  };
}
