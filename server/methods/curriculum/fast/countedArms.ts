/**
 * Arms by their number of rollouts, for weights exp((q + b(n))/τ) whose bonus b(n) changes for all arms at every step.
 * The bonus is one factor for all arms of one count, so only sums of exp(q/τ) are kept, by count and block of arms. A
 * changed or drawn arm costs the sums of its block. Each sum is recomputed in the order of the arms, so it does not
 * depend on their history.
 */
import type { Random } from "../../../lib/random.ts";
import { largest } from "../numbers.ts";
import type { ArmPool } from "../../../core/slots/fastArms.ts";
import { SumTree } from "./sumTree.ts";
import { relative } from "./softmax.ts";

const blockSize = 256;

/** Open arms of one count. */
class Bin {
  /** By block: the largest estimate, and Σ exp((q − largest)/τ); −∞ and 0 where it has no such arm. */
  readonly tops: Float64Array;
  readonly sums: Float64Array;
  /** By block: Σ exp((q − zero)/τ). */
  weights: SumTree;
  /** The largest estimate; NaN: to be recomputed. */
  private largest = Number.NaN;
  /** What the weights are relative to. It depends on the largest estimate alone, and changes rarely. */
  private zero = Number.NaN;

  constructor(
    readonly count: number,
    blocks: number,
    private readonly tau: number,
  ) {
    this.tops = new Float64Array(blocks).fill(Number.NEGATIVE_INFINITY);
    this.sums = new Float64Array(blocks);
    this.weights = new SumTree(this.sums);
  }

  set(block: number, top: number, sum: number): void {
    const before = this.tops[block]!;
    this.tops[block] = top;
    this.sums[block] = sum;
    if (top > this.largest || (top < before && before === this.largest)) this.largest = Number.NaN;
    if (!Number.isNaN(this.zero)) this.weights.set(block, this.weight(block));
  }
  private weight(block: number): number {
    return this.sums[block] === 0 ? 0 : this.sums[block]! * relative(this.tops[block]!, this.zero, this.tau);
  }

  /** The largest estimate; −∞: no arm. */
  get top(): number {
    if (Number.isNaN(this.largest)) this.largest = largest(this.tops);
    return this.largest;
  }

  /** log Σ exp(q/τ); −∞: no arm. Updates the weights. */
  log(): number {
    const zero = zeroOf(this.top, this.tau);
    if (zero !== this.zero) {
      this.zero = zero;
      this.weights = new SumTree(this.sums.map((_, block) => this.weight(block)));
    }
    return this.zero / this.tau + Math.log(this.weights.total);
  }
}

/** Rounds up to a multiple of 32 τ, so that the largest weight is exp(−32) or more and none exceeds 1. */
function zeroOf(top: number, tau: number): number {
  const next = Math.ceil(top / (32 * tau)) * 32 * tau;
  return next > top ? next : top;
}

export class CountedArms {
  /** q of each arm; 0: unknown. */
  private estimates: Float64Array = new Float64Array(0);
  private rollouts: Float64Array = new Float64Array(0);
  private size = 0;
  private bins = new Map<number, Bin>();
  /** Arms that may not be drawn, as a list and as flags. */
  private closed: number[] = [];
  private isClosed = new Uint8Array(0);
  /** Blocks whose sums must be recomputed. */
  private readonly stale = new Set<number>();

  constructor(readonly tau: number) {}

  /**
   * `n` different arms, one after the other in proportion to the weights left; fewer where fewer are open.
   * @param bonus b(n), for n rollouts of an arm
   * @param temperature above 0 and at most τ. Below τ an arm drawn at τ is accepted with the ratio of the two weights
   * (rejection sampling); with a difference of 4 % about half of a million arms are accepted.
   */
  draw(
    pool: ArmPool,
    n: number,
    bonus: (count: number) => number,
    random: Random,
    temperature = this.tau,
  ): number[] {
    this.settle(pool);
    const bonuses = new Map<number, number>();
    const bonusOf = ({ count }: Bin): number => {
      const found = bonuses.get(count) ?? bonus(count);
      bonuses.set(count, found);
      return found;
    };
    const bins = [...this.bins.values()].sort((a, b) => a.count - b.count);
    const logs = Float64Array.from(bins, (bin) => bin.log() + bonusOf(bin) / this.tau);
    const most = (): number => largest(bins.map((bin) => bin.top + bonusOf(bin)));
    const drawn: number[] = [];
    while (drawn.length < n && largest(logs) > Number.NEGATIVE_INFINITY) {
      const here = random.fork(drawn.length);
      const top = temperature === this.tau ? Number.NaN : most();
      let [at, arm] = [0, -1];
      do {
        at = indexOf(logs, here);
        arm = this.armOf(bins[at]!, here);
      } while (!this.accepts(this.estimates[arm]! + bonusOf(bins[at]!), top, temperature, here));
      drawn.push(arm);
      this.close(arm);
      this.sum(Math.floor(arm / blockSize));
      logs[at] = bins[at]!.log() + bonusOf(bins[at]!) / this.tau;
    }
    return drawn;
  }

  /** Whether an arm drawn at τ is accepted at a lower temperature; the one of the largest bound always is. */
  private accepts(bound: number, top: number, temperature: number, random: Random): boolean {
    if (temperature === this.tau) return true;
    return random.next() < relative(bound, top, 1 / (1 / temperature - 1 / this.tau));
  }

  private close(arm: number): void {
    this.closed.push(arm);
    this.isClosed[arm] = 1;
  }

  private armOf(bin: Bin, random: Random): number {
    const block = bin.weights.find(random.next() * bin.weights.total);
    const [from, to] = this.bounds(block);
    const { rollouts, estimates, isClosed, tau } = this;
    const top = bin.tops[block]!;
    let left = random.next() * bin.sums[block]!;
    let found = -1;
    for (let arm = from; arm < to && left >= 0; arm++) {
      if (rollouts[arm] !== bin.count || isClosed[arm] === 1) continue;
      const weight = relative(estimates[arm]!, top, tau);
      left -= weight;
      // A remainder of rounding belongs to the last arm with a weight.
      if (weight > 0) found = arm;
    }
    return found;
  }

  private bounds(block: number): readonly [number, number] {
    return [block * blockSize, Math.min(this.size, (block + 1) * blockSize)];
  }

  /** Updates the sums for changes since the last draw, and for arms that are closed now. */
  private settle(pool: ArmPool): void {
    const changed = pool.changed?.() ?? "all";
    const had = changed === "all" ? 0 : this.size;
    if (changed === "all") this.bins.clear();
    this.size = pool.size;
    this.rollouts = pool.rollouts;
    this.room();
    const read = (arm: number): void => {
      const q = pool.estimate(arm);
      this.estimates[arm] = Number.isNaN(q) ? 0 : q;
    };
    if (changed !== "all") for (const arm of changed) read(arm);
    for (let arm = had; arm < this.size; arm++) read(arm);
    this.markStale(this.closed);
    for (const arm of this.closed.splice(0)) this.isClosed[arm] = 0;
    for (const arm of pool.closed ?? []) this.close(arm);
    this.markStale(this.closed);
    if (changed !== "all") this.markStale(changed);
    for (let block = Math.floor(had / blockSize); block * blockSize < this.size; block++)
      this.stale.add(block);
    for (const block of this.stale) this.sum(block);
    this.stale.clear();
    for (const [count, bin] of this.bins) if (bin.log() === Number.NEGATIVE_INFINITY) this.bins.delete(count);
  }

  private markStale(arms: Iterable<number>): void {
    for (const arm of arms) this.stale.add(Math.floor(arm / blockSize));
  }

  /** Makes room for all arms. It at least doubles, so that adding arms one by one stays cheap. */
  private room(): void {
    const before = this.estimates;
    if (this.size <= before.length) return;
    this.estimates = new Float64Array(
      before.length === 0 ? this.size : Math.max(this.size, 2 * before.length),
    );
    this.estimates.set(before);
    this.isClosed = new Uint8Array(this.estimates.length);
    for (const arm of this.closed) this.isClosed[arm] = 1;
    // The number of a bin's blocks depends on the room.
    this.bins.clear();
    for (let block = 0; block * blockSize < this.size; block++) this.stale.add(block);
  }

  /** Recomputes the sums of a block over its open arms. */
  private sum(block: number): void {
    const { rollouts, estimates, isClosed } = this;
    const [from, to] = this.bounds(block);
    const tops = new Map<Bin, number>();
    for (let arm = from; arm < to;) {
      const bin = this.binOf(rollouts[arm]!);
      let top = tops.get(bin);
      // Most neighbours have the same count.
      for (; arm < to && rollouts[arm] === bin.count; arm++)
        if (isClosed[arm] === 0 && !(estimates[arm]! <= top!)) top = estimates[arm]!;
      if (top !== undefined) tops.set(bin, top);
    }
    for (const bin of this.bins.values()) {
      const top = tops.get(bin);
      if (top !== undefined) bin.set(block, top, this.sumOf(bin.count, top, from, to));
      else if (bin.sums[block]! > 0) bin.set(block, Number.NEGATIVE_INFINITY, 0);
    }
  }
  private sumOf(n: number, top: number, from: number, to: number): number {
    const { rollouts, estimates, isClosed, tau } = this;
    let sum = 0;
    for (let arm = from; arm < to; arm++)
      if (rollouts[arm] === n && isClosed[arm] === 0) sum += relative(estimates[arm]!, top, tau);
    return sum;
  }

  private binOf(count: number): Bin {
    const known = this.bins.get(count);
    if (known !== undefined) return known;
    const bin = new Bin(count, Math.ceil(this.estimates.length / blockSize), this.tau);
    this.bins.set(count, bin);
    return bin;
  }
}

/** An index with probability ∝ exp(log). */
function indexOf(logs: Float64Array, random: Random): number {
  const top = largest(logs);
  const weights = new SumTree(logs.map((log) => relative(log, top, 1)));
  return weights.find(random.next() * weights.total);
}
