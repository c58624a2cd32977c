/** Arms in an order of which a few change at a time. Arms by position, and positions of arms, take logarithmic time. */
import { firstWhere } from "../../../../shared/lib/firstWhere.ts";
import { lastAtMost } from "../../../lib/ordering.ts";

const capacity = 1024;

interface Chunk {
  /** In order; only the first `length` are used. */
  readonly arms: Int32Array;
  length: number;
}

export class OrderedArms {
  private chunks: Chunk[] = [];
  /** Position of each chunk's first arm; recomputed on demand after a change. */
  private positions: Float64Array | undefined;
  private count: number;

  /**
   * @param arms in order
   * @param compare below 0: the first comes before the second; never 0 of two arms
   */
  constructor(
    arms: Int32Array,
    private readonly compare: (a: number, b: number) => number,
  ) {
    this.count = arms.length;
    for (let from = 0; from < arms.length; from += capacity - capacity / 8) {
      const some = arms.subarray(from, from + capacity - capacity / 8);
      const chunk = { arms: new Int32Array(capacity), length: some.length };
      chunk.arms.set(some);
      this.chunks.push(chunk);
    }
  }

  get size(): number {
    return this.count;
  }

  at(position: number): number {
    const positions = this.firstPositions();
    const chunk = lastAtMost(positions, position);
    return this.chunks[chunk]!.arms[position - positions[chunk]!]!;
  }

  /** The position of an arm, or where it would be inserted. */
  positionOf(arm: number): number {
    if (this.chunks.length === 0) return 0;
    const chunk = this.chunkOf(arm);
    return this.firstPositions()[chunk]! + this.within(this.chunks[chunk]!, arm);
  }

  add(arm: number): void {
    if (this.chunks.length === 0) this.chunks.push({ arms: new Int32Array(capacity), length: 0 });
    const number = this.chunkOf(arm);
    const chunk = this.chunks[number]!;
    const at = this.within(chunk, arm);
    chunk.arms.copyWithin(at + 1, at, chunk.length);
    chunk.arms[at] = arm;
    chunk.length += 1;
    this.count += 1;
    this.positions = undefined;
    if (chunk.length === capacity) this.split(number);
  }

  /** Call it before the arm's keys change. */
  remove(arm: number): void {
    const number = this.chunkOf(arm);
    const chunk = this.chunks[number]!;
    const at = this.within(chunk, arm);
    if (chunk.arms[at] !== arm) throw new RangeError(`arm ${arm} is not where its key says`);
    chunk.arms.copyWithin(at, at + 1, chunk.length);
    chunk.length -= 1;
    this.count -= 1;
    this.positions = undefined;
    if (chunk.length === 0) this.chunks.splice(number, 1);
  }

  /** Positions at which the keys differ from those of the arm before; NaN equals NaN. */
  starts(keys: readonly Float64Array[]): Uint32Array<ArrayBuffer> {
    const starts = new Uint32Array(this.count);
    let [found, from, before, run] = [0, 0, -1, 0];
    for (const { arms, length } of this.chunks) {
      for (let i = 0; i < length; i++) {
        const arm = arms[i]!;
        if (before >= 0 && sameKeys(keys, before, arm)) {
          // Of a long run of equal arms only the end is searched for.
          if (++run % 8 === 0)
            i += firstWhere(length - i - 1, (on) => !sameKeys(keys, arm, arms[i + 1 + on]!));
        } else {
          starts[found++] = from + i;
          run = 0;
        }
        before = arms[i]!;
      }
      from += length;
    }
    return starts.slice(0, found);
  }

  private split(number: number): void {
    const chunk = this.chunks[number]!;
    const half = chunk.length >>> 1;
    const rest = { arms: new Int32Array(capacity), length: chunk.length - half };
    rest.arms.set(chunk.arms.subarray(half, chunk.length));
    chunk.length = half;
    this.chunks.splice(number + 1, 0, rest);
  }

  private firstPositions(): Float64Array {
    if (this.positions !== undefined) return this.positions;
    let from = 0;
    return (this.positions = Float64Array.from(this.chunks, ({ length }) => (from += length) - length));
  }

  /** The last chunk whose first arm is not after this one. */
  private chunkOf(arm: number): number {
    const { chunks, compare } = this;
    return firstWhere(chunks.length - 1, (before) => {
      const first = chunks[before + 1]!.arms[0]!;
      return first !== arm && compare(first, arm) > 0;
    });
  }

  /** The first position in a chunk whose arm is not before this one. */
  private within({ arms, length }: Chunk, arm: number): number {
    return firstWhere(length, (at) => arms[at] === arm || this.compare(arms[at]!, arm) >= 0);
  }
}

/** Whether two arms have the same keys. */
function sameKeys(keys: readonly Float64Array[], a: number, b: number): boolean {
  for (let i = 0; i < keys.length; i++) {
    const [one, other] = [keys[i]![a]!, keys[i]![b]!];
    if (one !== other && !(Number.isNaN(one) && Number.isNaN(other))) return false;
  }
  return true;
}
