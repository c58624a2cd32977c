/**
 * Blocks that two sequences have in common, as Ratcliff and Obershelp find them and Python's `difflib` does: the longest,
 * the leftmost of those, then the same on both sides of it. Kept to difflib's results, so that rewards are those of
 * published code.
 */

export interface Block {
  readonly a: number;
  readonly b: number;
  readonly size: number;
}

/** Where each item of `b` is; with `autojunk`, without those that are more than 1 % of 200 or more. */
function placesOf<Item>(b: readonly Item[], autojunk: boolean): ReadonlyMap<Item, readonly number[]> {
  const places = new Map<Item, number[]>();
  b.forEach((item, j) => {
    const own = places.get(item);
    if (own === undefined) places.set(item, [j]);
    else own.push(j);
  });
  if (autojunk && b.length >= 200) {
    const most = Math.floor(b.length / 100) + 1;
    for (const [item, own] of places) if (own.length > most) places.delete(item);
  }
  return places;
}

interface Bounds {
  readonly fromA: number;
  readonly toA: number;
  readonly fromB: number;
  readonly toB: number;
}

class Matcher<Item> {
  private readonly places: ReadonlyMap<Item, readonly number[]>;
  private lengths: Int32Array;
  private next: Int32Array;

  constructor(
    private readonly a: readonly Item[],
    private readonly b: readonly Item[],
    autojunk: boolean,
  ) {
    this.places = placesOf(b, autojunk);
    this.lengths = new Int32Array(b.length + 1);
    this.next = new Int32Array(b.length + 1);
  }

  /** The longest common run within bounds. Runs that end in an item are extended over those that autojunk left out. */
  longest({ fromA, toA, fromB, toB }: Bounds): Block {
    let best: Block = { a: fromA, b: fromB, size: 0 };
    let touched: number[] = [];
    for (let i = fromA; i < toA; i++) {
      const now: number[] = [];
      for (const j of this.places.get(this.a[i]!) ?? []) {
        if (j < fromB) continue;
        if (j >= toB) break;
        const size = this.lengths[j]! + 1;
        this.next[j + 1] = size;
        now.push(j + 1);
        if (size > best.size) best = { a: i - size + 1, b: j - size + 1, size };
      }
      for (const j of touched) this.lengths[j] = 0;
      [this.lengths, this.next] = [this.next, this.lengths];
      touched = now;
    }
    for (const j of touched) this.lengths[j] = 0;
    return this.extended(best, { fromA, toA, fromB, toB });
  }

  private extended({ a, b, size }: Block, { fromA, toA, fromB, toB }: Bounds): Block {
    let [startA, startB, length] = [a, b, size];
    while (startA > fromA && startB > fromB && this.a[startA - 1] === this.b[startB - 1]) {
      startA--;
      startB--;
      length++;
    }
    while (
      startA + length < toA &&
      startB + length < toB &&
      this.a[startA + length] === this.b[startB + length]
    )
      length++;
    return { a: startA, b: startB, size: length };
  }
}

/** In order, blocks that touch made one. */
export function matchingBlocks<Item>(a: readonly Item[], b: readonly Item[], autojunk = false): Block[] {
  const matcher = new Matcher(a, b, autojunk);
  const open: Bounds[] = [{ fromA: 0, toA: a.length, fromB: 0, toB: b.length }];
  const found: Block[] = [];
  for (let bounds = open.pop(); bounds !== undefined; bounds = open.pop()) {
    const { fromA, toA, fromB, toB } = bounds;
    const block = matcher.longest(bounds);
    if (block.size === 0) continue;
    found.push(block);
    if (fromA < block.a && fromB < block.b) open.push({ fromA, toA: block.a, fromB, toB: block.b });
    const [endA, endB] = [block.a + block.size, block.b + block.size];
    if (endA < toA && endB < toB) open.push({ fromA: endA, toA, fromB: endB, toB });
  }
  found.sort((one, other) => one.a - other.a || one.b - other.b);
  return joined(found);
}

function joined(blocks: readonly Block[]): Block[] {
  const all: Block[] = [];
  for (const block of blocks) {
    const last = all.at(-1);
    if (last !== undefined && last.a + last.size === block.a && last.b + last.size === block.b)
      all[all.length - 1] = { ...last, size: last.size + block.size };
    else all.push(block);
  }
  return all;
}

/** 2M/T: twice the characters (code points) that both have in common, of all. Two empty texts: 1. */
export function similarity(one: string, other: string): number {
  const [a, b] = [[...one], [...other]];
  if (a.length + b.length === 0) return 1;
  const common = matchingBlocks(a, b).reduce((sum, { size }) => sum + size, 0);
  return (2 * common) / (a.length + b.length);
}
