/** Samplers whose draws do not depend on one another: in proportion to a weight by arm. */
import { firstWhere } from "../../../../shared/firstWhere.ts";
import { singly } from "../../../core/arms/classes.ts";
import { SumTree } from "../sumTree.ts";
import type { Random } from "../../../lib/random.ts";
import type { Clock } from "../../../core/basics.ts";
import type { Known, Sampler, Classes, Reading } from "../../../core/slots/curriculum.ts";
import { classesOf, Columns, shares } from "./columns.ts";
import { softmaxWeights, type Softmax } from "./softmax.ts";

/** A weight of at least 0 for each arm of a class; whether an arm is open is not its business. */
export type Weights = (columns: Columns, now: readonly number[]) => Float64Array | Softmax;

const numbersOf = (weights: Float64Array | Softmax, open: ArrayLike<number>): Float64Array =>
  "temperature" in weights ? softmaxWeights(weights, open) : weights;

/** Scales weights of at least 0 to a sum of 1, in place; all 0: the open arms alike. */
export function normalise(weights: Float64Array, open: (arm: number) => boolean): Float64Array {
  let sum = 0;
  for (let arm = 0; arm < weights.length; arm++) {
    if (!open(arm)) weights[arm] = 0;
    sum += weights[arm]!;
  }
  if (sum > 0) {
    for (let arm = 0; arm < weights.length; arm++) weights[arm]! /= sum;
    return weights;
  }
  const left = weights.reduce((count, _, arm) => count + Number(open(arm)), 0);
  return weights.map((_, arm) => (open(arm) ? 1 / left : 0));
}

/** The arm on whose share of [0, 1) a number falls; rounding can leave a sliver, which is the last arm's that has one. */
function pick(cumulative: Float64Array, at: number): number {
  let place = firstWhere(cumulative.length - 1, (arm) => cumulative[arm]! > at);
  while (place > 0 && cumulative[place] === cumulative[place - 1]) place--;
  return place;
}

/** Draws from a distribution. */
export function drawFrom(probabilities: Float64Array, n: number, random: Random): number[] {
  let sum = 0;
  const cumulative = probabilities.map((p) => (sum += p));
  return sum > 0 ? Array.from({ length: n }, (_, i) => pick(cumulative, random.fork(i).next() * sum)) : [];
}

/** Places of a class that are left, without a list of them: the few that went are replaced by those at the end. */
class Left {
  private readonly moved = new Map<number, number>();

  constructor(
    private count: number,
    gone: readonly number[],
  ) {
    // From the end, so that what moves up has not gone itself.
    for (let i = gone.length - 1; i >= 0; i--) this.take(gone[i]!);
  }
  get size(): number {
    return this.count;
  }
  /** What is at a place, which then holds another. */
  take(at: number): number {
    const found = this.moved.get(at) ?? at;
    this.count -= 1;
    this.moved.set(at, this.moved.get(this.count) ?? this.count);
    return found;
  }
}

/** Shares of which less than this is left may be a few of the last numbers above 0, and not what they stand for. */
const negligible = 1e-250;

/**
 * `n` different arms, one after the other in proportion to what is left; fewer where fewer have a weight.
 * @param tree of each class the weight of all its open arms; as it was afterwards
 * @param again the weights by how many of each class are left: of numbers too small to be told apart beside the first
 */
export function drawApart(
  classes: Classes,
  weights: Float64Array,
  tree: SumTree,
  n: number,
  random: Random,
  again?: (left: Uint32Array) => Float64Array,
): number[] {
  const left = new Map<number, Left>();
  const drawn: number[] = [];
  let [now, own] = [tree, weights];
  for (let i = 0; i < n; i++) {
    if (again !== undefined && now.total < negligible) {
      const counts = classes.open.map((all, of) => left.get(of)?.size ?? all);
      own = again(counts);
      now = new SumTree(own.map((weight, of) => weight * counts[of]!));
    }
    if (!(now.total > 0)) break;
    const here = random.fork(i);
    const of = now.find(here.next() * now.total);
    const places = left.get(of) ?? new Left(classes.arms[of]!, classes.closed(of));
    left.set(of, places);
    drawn.push(classes.member(of, places.take(here.integer(places.size))));
    now.set(of, own[of]! * places.size);
  }
  for (const of of left.keys()) tree.set(of, weights[of]! * classes.open[of]!);
  return drawn;
}

/** Weights of classes, kept while neither the arms nor the clock have changed them. */
class Kept {
  private version: object | undefined;
  private open: object | undefined;
  private now: readonly number[] = [];
  weights: Float64Array = new Float64Array(0);
  tree = new SumTree(this.weights);

  constructor(
    private readonly of: Weights,
    /** Task weights change with the clock: what reads them is made anew. */
    private readonly keeps: boolean,
  ) {}

  settle(columns: Columns, now: readonly number[]): void {
    const { version, open } = columns.classes;
    const same = this.version === version && this.open === open && now.every((x, i) => x === this.now[i]);
    if (same && this.keeps) return;
    [this.version, this.open, this.now] = [version, open, now];
    this.weights = shares(numbersOf(this.of(columns, now), open), open);
    const all = new Float64Array(this.weights.length);
    for (let of = 0; of < all.length; of++) all[of] = this.weights[of]! * open[of]!;
    this.tree = new SumTree(all);
  }
}

/**
 * A sampler that draws independently in proportion to weights.
 * @param reads by what it tells arms apart: nothing else may change a weight, but `at`
 * @param at numbers that depend on the clock
 */
export function independent(
  reads: readonly Reading[],
  weights: Weights,
  at: (clock: Clock) => readonly number[] = () => [],
): Sampler {
  const kept = new Kept(weights, !reads.includes("prior"));
  const probabilities = (known: Known, clock: Clock): Float64Array => {
    const columns = new Columns(known, singly(known));
    return shares(numbersOf(weights(columns, at(clock)), columns.open), columns.open);
  };
  return {
    reads,
    probabilities,
    draw: (known, n, random, clock) => {
      if (!known.once) return drawFrom(probabilities(known, clock), n, random);
      const classes = classesOf(known);
      const [columns, now] = [new Columns(known, classes), at(clock)];
      kept.settle(columns, now);
      return drawApart(classes, kept.weights, kept.tree, n, random, (left) =>
        numbersOf(weights(columns, now), left),
      );
    },
  };
}
