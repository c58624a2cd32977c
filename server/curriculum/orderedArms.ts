/** Arms in some order, of which a few change places now and then: found by place, and places found, in log time. */

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
    let [low, high] = [0, this.chunks.length - 1];
    while (low < high) {
      const middle = (low + high + 1) >>> 1;
      if (places[middle]! <= place) low = middle;
      else high = middle - 1;
    }
    return this.chunks[low]!.arms[place - places[low]!]!;
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

  /** Places at which an arm stands that is not like the one before it. */
  starts(alike: (a: number, b: number) => boolean): Uint32Array {
    const starts = new Uint32Array(this.count);
    let [found, place, before] = [0, 0, -1];
    for (const { arms, length } of this.chunks) {
      for (let i = 0; i < length; i = endOfRun(arms, i, length, alike)) {
        if (before < 0 || !alike(before, arms[i]!)) starts[found++] = place + i;
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
    let [low, high] = [0, this.chunks.length - 1];
    while (low < high) {
      const middle = (low + high + 1) >>> 1;
      const first = this.chunks[middle]!.arms[0]!;
      if (first === arm || this.compare(first, arm) < 0) low = middle;
      else high = middle - 1;
    }
    return low;
  }

  /** The first place in a chunk whose arm does not come before this one. */
  private within({ arms, length }: Chunk, arm: number): number {
    let [low, high] = [0, length];
    while (low < high) {
      const middle = (low + high) >>> 1;
      const one = arms[middle]!;
      if (one !== arm && this.compare(one, arm) < 0) low = middle + 1;
      else high = middle;
    }
    return low;
  }
}

/** Behind the last of the arms from `i` on that are like the one there. */
function endOfRun(
  arms: Int32Array,
  i: number,
  length: number,
  alike: (a: number, b: number) => boolean,
): number {
  const first = arms[i]!;
  if (i + 1 >= length || !alike(first, arms[i + 1]!)) return i + 1;
  let [low, high] = [i + 2, length];
  while (low < high) {
    const middle = (low + high) >>> 1;
    if (alike(first, arms[middle]!)) low = middle + 1;
    else high = middle;
  }
  return low;
}
