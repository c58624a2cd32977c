/**
 * Worlds that teachers are tried in, one property each (after TeachMyAgent: a Benchmark for Automatic Curriculum Learning
 * in Deep RL): what is mostly impossible, what is mostly easy, what is forgotten, what has no order.
 */
import type { Random } from "../../lib/random.ts";
import { shuffled } from "../../methods/tasks/countdownExpressions.ts";
import { Learner, type World } from "./learner.ts";

export interface Scenario {
  readonly name: string;
  readonly summary: string;
  readonly world: (random: Random) => World;
}

/** Of every world. */
export const levels = 10;
const each = <Value>(make: (level: number) => Value): Value[] =>
  Array.from({ length: levels }, (_, i) => make(i));

/** What is learned at a level is learned at its neighbours by half as much for each step away. */
const nearby = (a: number, b: number): number => 0.5 ** Math.abs(a - b);

const ladder: World = {
  difficulty: each((level) => -1 + 0.8 * level),
  ceiling: each(() => 1),
  transfer: each((a) => each((b) => nearby(a, b))),
  forgetting: 0,
  rate: 0.6,
};

export const scenarios: readonly Scenario[] = [
  {
    name: "ladder",
    summary: "levels of increasing difficulty; learning one level helps with its neighbours",
    world: () => ladder,
  },
  {
    name: "mostly_infeasible",
    summary: "six of ten levels cannot be solved",
    world: () => ({ ...ladder, ceiling: each((level) => (level < 4 ? 1 : 0)) }),
  },
  {
    name: "mostly_trivial",
    summary: "seven of ten levels are solved from the start",
    world: () => ({ ...ladder, difficulty: each((level) => (level < 7 ? -5 : 0.8 * (level - 6))) }),
  },
  {
    name: "forgetting",
    summary: "levels that do not train are forgotten, by 1 % per update",
    world: () => ({ ...ladder, forgetting: 0.01 }),
  },
  {
    name: "rugged",
    summary: "difficulty has no order, and which levels help each other is random",
    world: (random) => {
      const order = shuffled(
        each((level) => level),
        random,
      );
      return {
        ...ladder,
        difficulty: each((level) => ladder.difficulty[order[level]!]!),
        transfer: each((a) => each((b) => (a === b ? 1 : random.next() < 0.2 ? 0.5 : 0))),
      };
    },
  },
];

/** Logits beyond which a shift changes no chance that a number can tell from 0 or 1. */
const farthest = 64;

/**
 * The world as a weaker or a stronger learner finds it: every level is as much harder or easier as makes the mean chance
 * to solve one, of those that can be solved, what is wanted at the start. The learner's ability stays 0, which is what
 * forgetting returns to.
 * @param success above 0 and below 1
 */
export const startingAt = ({ world, ...scenario }: Scenario, success: number): Scenario => ({
  ...scenario,
  world: (random) => {
    const made = world(random);
    const shifted = (by: number): World => ({ ...made, difficulty: made.difficulty.map((one) => one + by) });
    let [easier, harder] = [-farthest, farthest];
    for (let halving = 0; halving < 60; halving++) {
      const middle = (easier + harder) / 2;
      if (new Learner(shifted(middle)).score() > success) easier = middle;
      else harder = middle;
    }
    return shifted(easier);
  },
});
