/** What a sampler compares: numbers of classes of arms, and the sums that go over all of them. */
import { byClass, singly } from "../../../core/arms/classes.ts";
import { largest } from "../numbers.ts";
import type { Known, Classes } from "../../../core/slots/curriculum.ts";

/** What is compared of an arm; NaN: nothing is known of it. */
export const valueOf = (known: Known, arm: number): number =>
  known.scored === undefined ? known.value[arm]! : known.scored(arm);

/** Where each arm comes at most once a step, arms alike are one class; else each is its own. */
export const classesOf = (known: Known): Classes =>
  (known.once ? known.classes?.() : undefined) ?? singly(known);

export class Columns {
  constructor(
    readonly known: Known,
    readonly classes: Classes,
  ) {}

  get size(): number {
    return this.classes.size;
  }
  /** Arms of each class that may be drawn. */
  get open(): Uint32Array {
    return this.classes.open;
  }
  get value(): Float64Array {
    return this.classes.value?.() ?? byClass(this.classes, (arm) => valueOf(this.known, arm));
  }
  /** 0 where the estimator has none. */
  get spread(): Float64Array {
    return byClass(this.classes, (arm) => this.known.spread?.(arm) ?? 0);
  }
  get seen(): Float64Array {
    return byClass(this.classes, (arm) => this.known.seen[arm]!);
  }
  get drawn(): Float64Array {
    return byClass(this.classes, (arm) => this.known.drawn[arm]!);
  }
  get prior(): Float64Array {
    return byClass(this.classes, (arm) => this.known.prior(arm));
  }
  /** Σ over all arms. */
  get allSeen(): number {
    return this.known.totals?.seen ?? this.known.seen.reduce((sum, n) => sum + n, 0);
  }
  get allDrawn(): number {
    return this.known.totals?.drawn ?? this.known.drawn.reduce((sum, n) => sum + n, 0);
  }
}

/** Arms of which nothing is known count as the best known, so that each is tried; nothing known at all: 0. */
export function optimistic({ value }: { readonly value: Float64Array }): Float64Array {
  const top = largest(value);
  const best = top === Number.NEGATIVE_INFINITY ? 0 : top;
  return value.map((one) => (Number.isNaN(one) ? best : one));
}

/** Weights of at least 0 as shares of the open arms; all 0: the open arms alike. */
export function shares(weights: Float64Array, open: ArrayLike<number>): Float64Array {
  let [sum, all] = [0, 0];
  for (let of = 0; of < weights.length; of++) {
    if (open[of]! === 0) continue;
    sum += weights[of]! * open[of]!;
    all += open[of]!;
  }
  const found = new Float64Array(weights.length);
  for (let of = 0; of < found.length; of++)
    if (open[of]! > 0) found[of] = sum > 0 ? weights[of]! / sum : 1 / all;
  return found;
}
