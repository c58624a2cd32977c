/** A learner that is a few numbers: what it can do at each level, and how that changes with what it trains on. */
import type { Random } from "../../lib/random.ts";
import { logistic } from "../../methods/curriculum/numbers.ts";

export interface World {
  /** Difficulty of each level, in logits: a learner of ability 0 solves a task of difficulty d with probability σ(−d). */
  readonly difficulty: readonly number[];
  /** The highest rate at which a level can be solved; 0: it cannot. */
  readonly ceiling: readonly number[];
  /** How much of what is learned at one level is learned at another: a row for each level trained. */
  readonly transfer: readonly (readonly number[])[];
  /** Share of what was learned of a level that an update forgets which does not train it. */
  readonly forgetting: number;
  /** Logits that an update gains of a gain of 1. */
  readonly rate: number;
}

/** Of what an update is made: a level, and E[A (r − r̄)] over a group's rollouts, the first-order gain in its reward. */
export interface Lesson {
  readonly level: number;
  readonly gain: number;
}

export class Learner {
  /** By level, in logits. */
  readonly ability: Float64Array;

  constructor(private readonly world: World) {
    this.ability = new Float64Array(world.difficulty.length);
  }

  /** Chance to solve a task; `extra` makes it harder than its level. */
  success(level: number, extra = 0): number {
    const { difficulty, ceiling } = this.world;
    return ceiling[level]! * logistic(this.ability[level]! - difficulty[level]! - extra);
  }

  /** Rewards of so many attempts. */
  attempt(level: number, extra: number, count: number, random: Random): number[] {
    const p = this.success(level, extra);
    return Array.from({ length: count }, () => (random.next() < p ? 1 : 0));
  }

  /** One update: the mean of its lessons, as a loss that is averaged over groups makes it. */
  update(lessons: readonly Lesson[]): void {
    if (lessons.length === 0) return;
    const { transfer, forgetting, rate } = this.world;
    const pull = new Float64Array(this.ability.length);
    const trained = new Float64Array(this.ability.length);
    for (const { level, gain } of lessons) {
      trained[level]! += 1 / lessons.length;
      transfer[level]!.forEach((share, other) => (pull[other]! += (share * gain) / lessons.length));
    }
    this.ability.forEach((ability, level) => {
      const kept = ability * (1 - forgetting * (1 - trained[level]!));
      this.ability[level] = kept + rate * pull[level]!;
    });
  }

  /** What everything is about: the mean chance over the levels that can be solved at all. */
  score(): number {
    const levels = [...this.ability.keys()].filter((level) => this.world.ceiling[level]! > 0);
    return levels.reduce((sum, level) => sum + this.success(level), 0) / levels.length;
  }
}
