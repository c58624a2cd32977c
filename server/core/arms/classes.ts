/**
 * Arms that a sampler cannot tell apart, as one. Of a million tasks most have never been drawn, and of the others many
 * have shown the same: what a sampler computes by class costs as much as there are different arms, not as there are arms.
 */
import type { Classes } from "../slots/curriculum.ts";
import { lastAtMost, rankedBy } from "../../lib/ordering.ts";
import { OrderedArms } from "./orderedArms.ts";
import type { Known } from "../slots/curriculum.ts";

const none: readonly number[] = [];
const itself: readonly number[] = [0];

/** Each arm as a class of its own. */
export function singly({ size, open }: Known): Classes {
  const [first, may] = [new Int32Array(size), new Uint32Array(size)];
  for (let arm = 0; arm < size; arm++) {
    first[arm] = arm;
    may[arm] = Number(open(arm));
  }
  return {
    size,
    version: may,
    first,
    arms: new Uint32Array(size).fill(1),
    open: may,
    member: (of) => of,
    closed: (of) => (may[of] === 1 ? none : itself),
  };
}

/** A number of each class, from that of its first arm. */
export function byClass({ first }: Classes, read: (arm: number) => number): Float64Array {
  const numbers = new Float64Array(first.length);
  for (let of = 0; of < first.length; of++) numbers[of] = read(first[of]!);
  return numbers;
}

/** Numbers in their order, NaN behind all others. */
function compareNumbers(a: number, b: number): number {
  if (a === b) return 0;
  if (a < b) return -1;
  return a > b ? 1 : Number(Number.isNaN(a)) - Number(Number.isNaN(b));
}

/** Divides arms into classes by numbers of theirs, and keeps up with changes of a few of them. */
export class Alike {
  /** What each arm stands in the order by, a column for each number. */
  private readonly keys: Float64Array[];
  private order: OrderedArms | undefined;
  private changed = new Set<number>();
  /** Of the present classes: where each begins, its first arm, and how many it has. */
  private starts: Uint32Array | undefined;
  private first = new Int32Array(0);
  private arms = new Uint32Array(0);
  private version: object = {};

  /** @param value which of the readings is what is compared, where one of them is */
  constructor(
    private readonly readings: readonly ((arm: number) => number)[],
    private readonly value?: number,
  ) {
    this.keys = readings.map(() => new Float64Array(0));
  }

  /** These arms may have changed. */
  touch(arms: Iterable<number>): void {
    if (this.order === undefined) return;
    for (const arm of arms) if (arm >= 0) this.changed.add(arm);
  }
  /** What is believed has changed, and alike for arms that were alike. */
  renew(): void {
    this.version = {};
  }
  /** Every arm may have changed. */
  reset(): void {
    this.order = undefined;
    this.changed.clear();
  }

  /**
   * As arms stand now.
   * @param closed may not be drawn
   * @param only where given: nothing else may
   */
  classes(size: number, closed: ReadonlySet<number>, only?: ReadonlySet<number>): Classes {
    this.settle(size);
    return only === undefined ? this.ofAll(closed) : this.ofFew(closed, only);
  }

  private ofAll(closed: ReadonlySet<number>): Classes {
    const [order, starts, first, arms] = [this.order!, this.starts!, this.first, this.arms];
    const shut = new Map<number, number[]>();
    const places = [...closed].map((arm) => order.placeOf(arm)).sort((a, b) => a - b);
    for (const place of places) {
      const of = lastAtMost(starts, place);
      const before = shut.get(of);
      if (before === undefined) shut.set(of, [place - starts[of]!]);
      else before.push(place - starts[of]!);
    }
    const open = closed.size === 0 ? arms : arms.slice();
    for (const [of, those] of shut) open[of]! -= those.length;
    return {
      size: starts.length,
      version: this.version,
      first,
      arms,
      open,
      member: (of, place) => order.at(starts[of]! + place),
      closed: (of) => shut.get(of) ?? none,
      ...this.valued(first),
    };
  }

  /** Where few may be drawn, the others do not count. */
  private ofFew(closed: ReadonlySet<number>, only: ReadonlySet<number>): Classes {
    const order = this.orderOf([...only].filter((arm) => !closed.has(arm)));
    const starts = order.starts(this.keys);
    const [first, arms] = [firsts(order, starts), sizes(starts, order.size)];
    return {
      size: starts.length,
      version: starts,
      first,
      arms,
      open: arms,
      member: (of, place) => order.at(starts[of]! + place),
      closed: () => none,
      ...this.valued(first),
    };
  }
  private valued(first: Int32Array): Pick<Classes, "value"> {
    const key = this.value === undefined ? undefined : this.keys[this.value];
    return key === undefined ? {} : { value: () => gathered(key, first) };
  }

  /** Arms in the order of their numbers that are read, those that may be drawn. */
  *inOrder(size: number, closed: ReadonlySet<number>, only?: ReadonlySet<number>): Generator<number> {
    const all = this.ordered(size);
    const order = only === undefined ? all : this.orderOf(only);
    for (let place = 0; place < order.size; place++) {
      const arm = order.at(place);
      if (!closed.has(arm)) yield arm;
    }
  }
  private orderOf(arms: Iterable<number>): OrderedArms {
    return new OrderedArms(Int32Array.from(arms).sort(this.compare), this.compare);
  }

  private ordered(size: number): OrderedArms {
    if (this.order === undefined) this.build(size);
    else this.move(size);
    return this.order!;
  }

  private settle(size: number): void {
    const order = this.ordered(size);
    if (this.starts !== undefined) return;
    const starts = order.starts(this.keys);
    this.first = firsts(order, starts);
    this.arms = sizes(starts, order.size);
    this.starts = starts;
    this.renew();
  }

  private build(size: number): void {
    this.grow(size);
    for (let arm = 0; arm < size; arm++) this.read(arm);
    this.order = new OrderedArms(new Int32Array(rankedBy(this.keys, size).buffer), this.compare);
    this.starts = undefined;
  }

  private move(size: number): void {
    const order = this.order!;
    const had = order.size;
    this.grow(size);
    for (const arm of this.changed) {
      if (arm >= had || this.stands(arm)) continue;
      order.remove(arm);
      this.read(arm);
      order.add(arm);
      this.starts = undefined;
    }
    this.changed.clear();
    for (let arm = had; arm < size; arm++) {
      this.read(arm);
      order.add(arm);
      this.starts = undefined;
    }
  }

  private grow(size: number): void {
    for (const [i, key] of this.keys.entries()) {
      if (key.length >= size) continue;
      const larger = new Float64Array(key.length === 0 ? size : Math.max(size, 2 * key.length));
      larger.set(key);
      this.keys[i] = larger;
    }
  }
  private read(arm: number): void {
    for (const [i, reading] of this.readings.entries()) this.keys[i]![arm] = reading(arm);
  }
  private stands(arm: number): boolean {
    return this.readings.every((reading, i) => Object.is(reading(arm), this.keys[i]![arm]));
  }
  private readonly compare = (a: number, b: number): number => {
    for (const key of this.keys) {
      const order = compareNumbers(key[a]!, key[b]!);
      if (order !== 0) return order;
    }
    return a - b;
  };
}

function gathered(key: Float64Array, arms: Int32Array): Float64Array {
  const values = new Float64Array(arms.length);
  for (let of = 0; of < arms.length; of++) values[of] = key[arms[of]!]!;
  return values;
}

/** The arm at each of these places. Written out: `from` with a function costs ten times as much, of a million. */
function firsts(order: OrderedArms, starts: Uint32Array): Int32Array<ArrayBuffer> {
  const arms = new Int32Array(starts.length);
  for (let of = 0; of < starts.length; of++) arms[of] = order.at(starts[of]!);
  return arms;
}

function sizes(starts: Uint32Array, all: number): Uint32Array<ArrayBuffer> {
  const arms = new Uint32Array(starts.length);
  for (let of = 0; of < starts.length; of++)
    arms[of] = (of + 1 < starts.length ? starts[of + 1]! : all) - starts[of]!;
  return arms;
}
