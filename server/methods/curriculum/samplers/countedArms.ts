/**
 * Arms by how often they were seen, for weights exp((q + b(n))/τ) whose bonus b of the count n changes for all arms at
 * every step. Among arms of one count the bonus is one factor, so that only sums of exp(q/τ) are kept, by count and by
 * block of arms. One arm's change, or one draw, costs the sums of a block. Every sum is made anew from what it is of, in the
 * order of the arms: it does not depend on how things came to be as they are.
 */
import type { Random } from "../../../lib/random.ts";
import { largest } from "../numbers.ts";
import { SumTree } from "../sumTree.ts";
import type { Known } from "../../../core/slots/curriculum.ts";
import { valueOf } from "./columns.ts";
import { relative } from "./softmax.ts";

const blockSize = 256;

/** The arms of one count that may be drawn. */
class Bin {
  /** By block: the largest value, and Σ exp((q − largest)/τ); −∞ and 0 where it has none of the arms. */
  readonly tops: Float64Array;
  readonly sums: Float64Array;
  /** By block: Σ exp((q − zero)/τ). */
  weights: SumTree;
  /** The largest value of all; NaN: to be found again. */
  private largest = Number.NaN;
  /** What the weights are relative to. It depends on the largest value alone, and seldom changes as that does. */
  private zero = Number.NaN;

  constructor(
    readonly seen: number,
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

  /** The largest value; −∞ of no arm. */
  get top(): number {
    if (Number.isNaN(this.largest)) this.largest = largest(this.tops);
    return this.largest;
  }

  /** log Σ exp(q/τ); −∞ of no arm. The weights are up to date afterwards. */
  log(): number {
    const zero = zeroOf(this.top, this.tau);
    if (zero !== this.zero) {
      this.zero = zero;
      this.weights = new SumTree(this.sums.map((_, block) => this.weight(block)));
    }
    return this.zero / this.tau + Math.log(this.weights.total);
  }
}

/** The next of a few numbers far apart, so that a largest weight is exp(−32) or more, and all others less than 1. */
function zeroOf(top: number, tau: number): number {
  const next = Math.ceil(top / (32 * tau)) * 32 * tau;
  return next > top ? next : top;
}

export class CountedArms {
  /** q of each arm; 0 where nothing is known. */
  private values: Float64Array = new Float64Array(0);
  private seen: Float64Array = new Float64Array(0);
  private size = 0;
  private bins = new Map<number, Bin>();
  /** Arms that may not be drawn: those, and 1 for each of them. Blocks whose sums have to be made again. */
  private gone: number[] = [];
  private isGone = new Uint8Array(0);
  private readonly stale = new Set<number>();

  constructor(readonly tau: number) {}

  /**
   * `n` different arms, one after the other in proportion to what is left; fewer where fewer are open.
   * @param bonus b(n), of an arm that was seen n times
   * @param temperature above 0 and at most τ: what is drawn at τ is kept with the odds of the difference, which is as
   * good as drawing at it. The less the two differ, the fewer are drawn in vain: of a million arms half, at 4 %.
   */
  draw(
    known: Known,
    n: number,
    bonus: (seen: number) => number,
    random: Random,
    temperature = this.tau,
  ): number[] {
    this.settle(known);
    const bonuses = new Map<number, number>();
    const bonusOf = ({ seen }: Bin): number => {
      const found = bonuses.get(seen) ?? bonus(seen);
      bonuses.set(seen, found);
      return found;
    };
    const bins = [...this.bins.values()].sort((a, b) => a.seen - b.seen);
    const logs = Float64Array.from(bins, (bin) => bin.log() + bonusOf(bin) / this.tau);
    const most = (): number => largest(bins.map((bin) => bin.top + bonusOf(bin)));
    const drawn: number[] = [];
    while (drawn.length < n && largest(logs) > Number.NEGATIVE_INFINITY) {
      const here = random.fork(drawn.length);
      const top = temperature === this.tau ? Number.NaN : most();
      let [at, arm] = [0, -1];
      do {
        at = placeOf(logs, here);
        arm = this.armOf(bins[at]!, here);
      } while (!this.keeps(this.values[arm]! + bonusOf(bins[at]!), top, temperature, here));
      drawn.push(arm);
      this.leave(arm);
      this.sum(Math.floor(arm / blockSize));
      logs[at] = bins[at]!.log() + bonusOf(bins[at]!) / this.tau;
    }
    return drawn;
  }

  /** Whether what was drawn at τ counts at a lower temperature; of the largest bound there is, always. */
  private keeps(bound: number, top: number, temperature: number, random: Random): boolean {
    if (temperature === this.tau) return true;
    return random.next() < relative(bound, top, 1 / (1 / temperature - 1 / this.tau));
  }

  private leave(arm: number): void {
    this.gone.push(arm);
    this.isGone[arm] = 1;
  }

  private armOf(bin: Bin, random: Random): number {
    const block = bin.weights.find(random.next() * bin.weights.total);
    const [from, to] = this.bounds(block);
    const { seen, values, isGone, tau } = this;
    const top = bin.tops[block]!;
    let left = random.next() * bin.sums[block]!;
    let found = -1;
    for (let arm = from; arm < to && left >= 0; arm++) {
      if (seen[arm] !== bin.seen || isGone[arm] === 1) continue;
      const weight = relative(values[arm]!, top, tau);
      left -= weight;
      // What rounding leaves belongs to the last that has a weight.
      if (weight > 0) found = arm;
    }
    return found;
  }

  private bounds(block: number): readonly [number, number] {
    return [block * blockSize, Math.min(this.size, (block + 1) * blockSize)];
  }

  /** Takes in what has changed since the last draw, and what may not be drawn in this one. */
  private settle(known: Known): void {
    const changed = known.changed?.() ?? "all";
    const had = changed === "all" ? 0 : this.size;
    if (changed === "all") this.bins.clear();
    this.size = known.size;
    this.seen = known.seen;
    this.room();
    const read = (arm: number): void => {
      const q = valueOf(known, arm);
      this.values[arm] = Number.isNaN(q) ? 0 : q;
    };
    if (changed !== "all") for (const arm of changed) read(arm);
    for (let arm = had; arm < this.size; arm++) read(arm);
    this.restale(this.gone);
    for (const arm of this.gone.splice(0)) this.isGone[arm] = 0;
    for (const arm of known.closed ?? []) this.leave(arm);
    this.restale(this.gone);
    if (changed !== "all") this.restale(changed);
    for (let block = Math.floor(had / blockSize); block * blockSize < this.size; block++)
      this.stale.add(block);
    for (const block of this.stale) this.sum(block);
    this.stale.clear();
    for (const [seen, bin] of this.bins) if (bin.log() === Number.NEGATIVE_INFINITY) this.bins.delete(seen);
  }

  private restale(arms: Iterable<number>): void {
    for (const arm of arms) this.stale.add(Math.floor(arm / blockSize));
  }

  /** Room for all arms; it doubles, so that they may appear one at a time. */
  private room(): void {
    if (this.size <= this.values.length) return;
    const before = this.values;
    this.values = new Float64Array(before.length === 0 ? this.size : Math.max(this.size, 2 * before.length));
    this.values.set(before);
    this.isGone = new Uint8Array(this.values.length);
    for (const arm of this.gone) this.isGone[arm] = 1;
    // Bins have as many blocks as there is room for.
    this.bins.clear();
    for (let block = 0; block * blockSize < this.size; block++) this.stale.add(block);
  }

  /** The sums of a block, over those of its arms that may be drawn. */
  private sum(block: number): void {
    const { seen, values, isGone } = this;
    const [from, to] = this.bounds(block);
    const tops = new Map<Bin, number>();
    for (let arm = from; arm < to;) {
      const bin = this.binOf(seen[arm]!);
      let top = tops.get(bin);
      // Most arms beside one another were seen alike often.
      for (; arm < to && seen[arm] === bin.seen; arm++)
        if (isGone[arm] === 0 && !(values[arm]! <= top!)) top = values[arm]!;
      if (top !== undefined) tops.set(bin, top);
    }
    for (const bin of this.bins.values()) {
      const top = tops.get(bin);
      if (top !== undefined) bin.set(block, top, this.sumOf(bin.seen, top, from, to));
      else if (bin.sums[block]! > 0) bin.set(block, Number.NEGATIVE_INFINITY, 0);
    }
  }
  private sumOf(n: number, top: number, from: number, to: number): number {
    const { seen, values, isGone, tau } = this;
    let sum = 0;
    for (let arm = from; arm < to; arm++)
      if (seen[arm] === n && isGone[arm] === 0) sum += relative(values[arm]!, top, tau);
    return sum;
  }

  private binOf(seen: number): Bin {
    const known = this.bins.get(seen);
    if (known !== undefined) return known;
    const bin = new Bin(seen, Math.ceil(this.values.length / blockSize), this.tau);
    this.bins.set(seen, bin);
    return bin;
  }
}

/** A place with odds ∝ exp of a number. */
function placeOf(logs: Float64Array, random: Random): number {
  const top = largest(logs);
  const weights = new SumTree(logs.map((log) => relative(log, top, 1)));
  return weights.find(random.next() * weights.total);
}
