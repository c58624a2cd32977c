/** Arms with equal numbers as one class, kept up to date while a few arms change at a time. */
import { lastAtMost, rankedBy } from "../../../lib/ordering.ts";
import type { ArmClasses } from "../../../core/slots/fastArms.ts";
import type { ArmBeliefs } from "../../../core/slots/arms.ts";
import { OrderedArms } from "./orderedArms.ts";

const none: readonly number[] = [];
const itself: readonly number[] = [0];

/** Each arm as a class of its own. */
export function singly({ size, open }: Pick<ArmBeliefs, "size" | "open">): ArmClasses {
  const first = new Int32Array(size);
  for (let arm = 0; arm < size; arm++) first[arm] = arm;
  const counts = Uint32Array.from(open);
  return {
    size,
    version: counts,
    first,
    arms: new Uint32Array(size).fill(1),
    open: counts,
    member: (of) => of,
    closed: (of) => (counts[of] === 1 ? none : itself),
  };
}

/** One number per class: its first arm's. */
export function byClass({ first }: ArmClasses, read: (arm: number) => number): Float64Array {
  const numbers = new Float64Array(first.length);
  for (let of = 0; of < first.length; of++) numbers[of] = read(first[of]!);
  return numbers;
}

/** Ascending, NaN last. */
function compareNumbers(a: number, b: number): number {
  if (a === b) return 0;
  if (a < b) return -1;
  return a > b ? 1 : Number(Number.isNaN(a)) - Number(Number.isNaN(b));
}

/** Divides arms into classes by their readings. */
export class ClassedArms {
  /** Sort keys: one column per reading. */
  private readonly keys: Float64Array[];
  private order: OrderedArms | undefined;
  private changed = new Set<number>();
  /** Of the current classes: position of the first arm, that arm, and the number of arms. */
  private starts: Uint32Array | undefined;
  private first = new Int32Array(0);
  private arms = new Uint32Array(0);
  private version: object = {};

  /** @param estimate index of the reading that is the estimate, where there is one */
  constructor(
    private readonly readings: readonly ((arm: number) => number)[],
    private readonly estimate?: number,
  ) {
    this.keys = readings.map(() => new Float64Array(0));
  }

  /** These arms may have changed. */
  touch(arms: Iterable<number>): void {
    if (this.order === undefined) return;
    for (const arm of arms) if (arm >= 0) this.changed.add(arm);
  }
  /** Estimates have changed, equally for arms of a class. */
  renew(): void {
    this.version = {};
  }
  /** Every arm may have changed. */
  reset(): void {
    this.order = undefined;
    this.changed.clear();
  }

  /**
   * @param closed arms that may not be drawn
   * @param only where given, only these may be drawn
   */
  classes(size: number, closed: ReadonlySet<number>, only?: ReadonlySet<number>): ArmClasses {
    this.settle(size);
    return only === undefined ? this.ofAll(closed) : this.ofFew(closed, only);
  }

  private ofAll(closed: ReadonlySet<number>): ArmClasses {
    const [order, starts, first, arms] = [this.order!, this.starts!, this.first, this.arms];
    const closedIn = new Map<number, number[]>();
    const positions = [...closed].map((arm) => order.positionOf(arm)).sort((a, b) => a - b);
    for (const position of positions) {
      const of = lastAtMost(starts, position);
      const before = closedIn.get(of);
      if (before === undefined) closedIn.set(of, [position - starts[of]!]);
      else before.push(position - starts[of]!);
    }
    const open = closed.size === 0 ? arms : arms.slice();
    for (const [of, those] of closedIn) open[of]! -= those.length;
    return {
      size: starts.length,
      version: this.version,
      first,
      arms,
      open,
      member: (of, position) => order.at(starts[of]! + position),
      closed: (of) => closedIn.get(of) ?? none,
      ...this.estimates(first),
    };
  }

  /** Classes of a few arms. */
  private ofFew(closed: ReadonlySet<number>, only: ReadonlySet<number>): ArmClasses {
    const order = this.orderOf([...only].filter((arm) => !closed.has(arm)));
    const starts = order.starts(this.keys);
    const [first, arms] = [firsts(order, starts), sizes(starts, order.size)];
    return {
      size: starts.length,
      version: starts,
      first,
      arms,
      open: arms,
      member: (of, position) => order.at(starts[of]! + position),
      closed: () => none,
      ...this.estimates(first),
    };
  }
  private estimates(first: Int32Array): Pick<ArmClasses, "estimates"> {
    const key = this.estimate === undefined ? undefined : this.keys[this.estimate];
    return key === undefined ? {} : { estimates: () => gathered(key, first) };
  }

  /** Open arms, sorted by their readings. */
  *inOrder(size: number, closed: ReadonlySet<number>, only?: ReadonlySet<number>): Generator<number> {
    const all = this.ordered(size);
    const order = only === undefined ? all : this.orderOf(only);
    for (let position = 0; position < order.size; position++) {
      const arm = order.at(position);
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
      if (arm >= had || this.isCurrent(arm)) continue;
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
  private isCurrent(arm: number): boolean {
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

/** The arm at each of these positions. A loop, since `from` with a function is ten times slower on a million. */
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
