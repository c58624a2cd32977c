/** Fast samplers that draw arms in proportion to a weight, computed once per class of arms. */
import type { Random } from "../../../lib/random.ts";
import type { Clock } from "../../../core/basics.ts";
import type { ArmClasses, ArmPool, FastSampler, Reading } from "../../../core/slots/fastArms.ts";
import { armColumns, classColumns, shares, type Columns } from "./columns.ts";
import { drawFrom } from "./lifted.ts";
import { softmaxWeights, type Softmax } from "./softmax.ts";
import { SumTree } from "./sumTree.ts";

/** The weight, at least 0, of one arm of each class. It need not look at `open`. */
export type Weights = (columns: Columns, now: readonly number[]) => Float64Array | Softmax;

const numbersOf = (weights: Float64Array | Softmax, open: ArrayLike<number>): Float64Array =>
  "temperature" in weights ? softmaxWeights(weights, open) : weights;

/** Positions left in a class, without a list of them: each position taken is filled by the last one. */
class Left {
  private readonly moved = new Map<number, number>();

  constructor(
    private count: number,
    gone: readonly number[],
  ) {
    // From the end, so that a position that fills another has not been taken itself.
    for (let i = gone.length - 1; i >= 0; i--) this.take(gone[i]!);
  }
  get size(): number {
    return this.count;
  }
  /** Takes what is at a position, which then holds another. */
  take(at: number): number {
    const found = this.moved.get(at) ?? at;
    this.count -= 1;
    this.moved.set(at, this.moved.get(this.count) ?? this.count);
    return found;
  }
}

/** When less than this is left of all shares, they may be denormal numbers: too coarse to draw from. */
const negligible = 1e-250;

/**
 * `n` different arms, one after the other in proportion to the weights left; fewer where fewer have a weight.
 * @param tree weight of all open arms of each class; it is restored at the end
 * @param again recomputes the weights from the number of arms left of each class, when those left are negligible
 */
export function drawApart(
  classes: ArmClasses,
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
    const positions = left.get(of) ?? new Left(classes.arms[of]!, classes.closed(of));
    left.set(of, positions);
    drawn.push(classes.member(of, positions.take(here.integer(positions.size))));
    now.set(of, own[of]! * positions.size);
  }
  for (const of of left.keys()) tree.set(of, weights[of]! * classes.open[of]!);
  return drawn;
}

/** Weights of classes, reused while neither the arms nor the clock change them. */
class Kept {
  private version: object | undefined;
  private open: object | undefined;
  private now: readonly number[] = [];
  weights: Float64Array = new Float64Array(0);
  tree = new SumTree(this.weights);

  constructor(
    private readonly of: Weights,
    /** False where task weights are read: they change with the clock. */
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
 * A fast sampler that draws in proportion to weights.
 * @param reads all numbers of an arm that its weight depends on
 * @param at numbers that depend on the clock
 */
export function independent(
  reads: readonly Reading[],
  weights: Weights,
  at: (clock: Clock) => readonly number[] = () => [],
): FastSampler {
  const kept = new Kept(weights, !reads.includes("prior"));
  const probabilities = (pool: ArmPool, clock: Clock): Float64Array => {
    const columns = armColumns(pool);
    return shares(numbersOf(weights(columns, at(clock)), columns.open), columns.open);
  };
  return {
    probabilities,
    classes: { reads },
    draw: (pool, n, random, clock) => {
      if (!pool.once) return drawFrom(probabilities(pool, clock), n, random);
      const [columns, now] = [classColumns(pool), at(clock)];
      kept.settle(columns, now);
      return drawApart(columns.classes, kept.weights, kept.tree, n, random, (left) =>
        numbersOf(weights(columns, now), left),
      );
    },
  };
}
