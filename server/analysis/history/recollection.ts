/** How hard each arm was when, as far as a history can tell. */
import type { Random } from "../../lib/random.ts";
import type { DrawnTask } from "../../algorithm/curriculum/draws.ts";
import type { Answering } from "../simulate/simulate.ts";

/** What a history saw of an arm in a step. */
export interface ArmObservation {
  readonly step: number;
  readonly successes: number;
  readonly rollouts: number;
}

export interface Belief {
  /** Mean of the belief that a rollout succeeds. */
  readonly mean: number;
  /** Standard deviation of its logit. */
  readonly spread: number;
  /** Rollouts that speak for it, each by how near its step is. */
  readonly support: number;
}

/** Beta(1, 1) and the arm's outcomes, weighed by exp(−|Δstep| / reach): without outcomes near by the belief is wide. */
export function believe(seen: readonly ArmObservation[], step: number, reach: number): Belief {
  let [right, wrong] = [1, 1];
  for (const one of seen) {
    const weight = Math.exp(-Math.abs(one.step - step) / reach);
    right += weight * one.successes;
    wrong += weight * (one.rollouts - one.successes);
  }
  return {
    mean: right / (right + wrong),
    spread: Math.sqrt(1 / right + 1 / wrong),
    support: right + wrong - 2,
  };
}

/** A bell-shaped number of mean 0 and deviation 1 (Box and Muller). */
const bell = (random: Random): number =>
  Math.sqrt(-2 * Math.log(1 - random.next())) * Math.cos(2 * Math.PI * random.next());

/** One way that things may have been: every arm a little easier or harder than the mean of the belief, all along. */
export class Recollection implements Answering {
  private readonly leaning = new Map<string, number>();
  private readonly known = new Map<string, Belief>();
  private step = 0;

  constructor(
    private readonly seen: ReadonlyMap<string, readonly ArmObservation[]>,
    private readonly reach: number,
    private readonly random: Random,
  ) {}

  belief(arm: string, step: number): Belief {
    const key = `${arm}\u0000${step}`;
    const known = this.known.get(key) ?? believe(this.seen.get(arm) ?? [], step, this.reach);
    this.known.set(key, known);
    return known;
  }

  private lean(arm: string): number {
    const known = this.leaning.get(arm) ?? bell(this.random.fork("lean", arm));
    this.leaning.set(arm, known);
    return known;
  }

  /** The history's step that is remembered from now on. */
  goTo(step: number): void {
    this.step = step;
  }

  attempt({ arm }: DrawnTask, count: number, random: Random): number[] {
    const { mean, spread } = this.belief(arm, this.step);
    const logit = Math.log(mean / (1 - mean)) + this.lean(arm) * spread;
    const p = 1 / (1 + Math.exp(-logit));
    return Array.from({ length: count }, () => (random.next() < p ? 1 : 0));
  }

  /** What trains changes nothing: the record is of what another curriculum trained. */
  train(): void {}
}
