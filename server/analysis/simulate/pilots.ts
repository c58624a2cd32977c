/** Pilot runs of a simulated learner: what it reaches by mixtures of levels. */
import { gamma } from "../../lib/distributions.ts";
import type { Pilot } from "../../methods/curriculum/estimators/mixtureModels.ts";
import type { Random } from "../../lib/random.ts";
import { Learner, type World } from "./learner.ts";

/** Mixtures drawn at random in addition to those of one level and of all alike; updates of each pilot. */
const [drawn, updates] = [30, 60];

/** E[A (r − r̄)] of a large group whose advantages are scaled by their deviation: √(p (1 − p)). */
const gain = (p: number): number => Math.sqrt(p * (1 - p));

function scoreOf(world: World, shares: readonly number[]): number {
  const learner = new Learner(world);
  const levels = [...shares.keys()].filter((level) => shares[level]! > 0);
  for (let update = 0; update < updates; update++) {
    // A lesson of each level counts as much as its share: as many lessons as their number, weighed.
    learner.update(
      levels.map((level) => ({ level, gain: shares[level]! * levels.length * gain(learner.success(level)) })),
    );
  }
  return learner.score();
}

/** Of mixtures over the world's levels. */
export function pilotsIn(world: World, random: Random): Pilot[] {
  const levels = [...world.difficulty.keys()];
  const corners = levels.map((level) => levels.map((other) => Number(level === other)));
  const mixtures = Array.from({ length: drawn }, (_, i) => {
    const stream = random.fork(i);
    const weights = levels.map(() => gamma(1, stream));
    const sum = weights.reduce((total, weight) => total + weight, 0);
    return weights.map((weight) => weight / sum);
  });
  const even = levels.map(() => 1 / levels.length);
  return [even, ...corners, ...mixtures].map((shares) => ({ shares, score: scoreOf(world, shares) }));
}
