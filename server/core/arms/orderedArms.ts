/** Arms in some order, of which a few change places now and then: found by place, and places found, in log time. */
import { firstWhere } from "../../../shared/firstWhere.ts";
import { lastAtMost } from "../../lib/ordering.ts";

const capacity = 1024;

interface Chunk {
  /** In order; only the first `length` count. */
  readonly arms: Int32Array;
  length: number;
}

export class OrderedArms {
  private chunks: Chunk[] = [];
  /** Place of each chunk's first arm; made anew when somebody asks after a change. */
  private places: Float64Array | undefined;
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

  at(place: number): number {
    const places = this.firstPlaces();
    const chunk = lastAtMost(places, place);
    return this.chunks[chunk]!.arms[place - places[chunk]!]!;
  }

  /** Where an arm stands, or would stand. */
  placeOf(arm: number): number {
    if (this.chunks.length === 0) return 0;
    const chunk = this.chunkOf(arm);
    return this.firstPlaces()[chunk]! + this.within(this.chunks[chunk]!, arm);
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
    this.places = undefined;
    if (chunk.length === capacity) this.split(number);
  }

  /** While the arm compares as it did when it was added. */
  remove(arm: number): void {
    const number = this.chunkOf(arm);
    const chunk = this.chunks[number]!;
    const at = this.within(chunk, arm);
    if (chunk.arms[at] !== arm) throw new RangeError(`arm ${arm} is not where its key says`);
    chunk.arms.copyWithin(at, at + 1, chunk.length);
    chunk.length -= 1;
    this.count -= 1;
    this.places = undefined;
    if (chunk.length === 0) this.chunks.splice(number, 1);
  }

  /** Places at which an arm stands that is not like the one before it, which has the same numbers; NaN is like NaN. */
  starts(keys: readonly Float64Array[]): Uint32Array<ArrayBuffer> {
    const starts = new Uint32Array(this.count);
    let [found, place, before, run] = [0, 0, -1, 0];
    for (const { arms, length } of this.chunks) {
      for (let i = 0; i < length; i++) {
        const arm = arms[i]!;
        if (before >= 0 && alike(keys, before, arm)) {
          // Of a long run the end alone is looked for.
          if (++run % 8 === 0) i += firstWhere(length - i - 1, (on) => !alike(keys, arm, arms[i + 1 + on]!));
        } else {
          starts[found++] = place + i;
          run = 0;
        }
        before = arms[i]!;
      }
      place += length;
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

  private firstPlaces(): Float64Array {
    if (this.places !== undefined) return this.places;
    let place = 0;
    return (this.places = Float64Array.from(this.chunks, ({ length }) => (place += length) - length));
  }

  /** The last chunk whose first arm does not come after this one. */
  private chunkOf(arm: number): number {
    const { chunks, compare } = this;
    return firstWhere(chunks.length - 1, (before) => {
      const first = chunks[before + 1]!.arms[0]!;
      return first !== arm && compare(first, arm) > 0;
    });
  }

  /** The first place in a chunk whose arm does not come before this one. */
  private within({ arms, length }: Chunk, arm: number): number {
    return firstWhere(length, (at) => arms[at] === arm || this.compare(arms[at]!, arm) >= 0);
  }
}

/** Whether two arms have the same numbers. */
function alike(keys: readonly Float64Array[], a: number, b: number): boolean {
  for (let i = 0; i < keys.length; i++) {
    const [one, other] = [keys[i]![a]!, keys[i]![b]!];
    if (one !== other && !(Number.isNaN(one) && Number.isNaN(other))) return false;
  }
  return true;
}
