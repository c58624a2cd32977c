/** Columns that a fast sampler reads: one row per class of arms, or per arm. */
import { largest } from "../numbers.ts";
import type { ArmClasses, ArmPool } from "../../../core/slots/fastArms.ts";
import { byClass, singly } from "./armClasses.ts";

/** Classes of equal arms where each comes at most once a step; else each arm is a class. */
export const classesOf = (pool: ArmPool): ArmClasses =>
  (pool.once ? pool.classes?.() : undefined) ?? singly(pool);

/** A row per arm. */
export const armColumns = (pool: ArmPool): Columns => new Columns(pool, singly(pool));
/** A row per class. */
export const classColumns = (pool: ArmPool): Columns => new Columns(pool, classesOf(pool));

export class Columns {
  constructor(
    private readonly pool: ArmPool,
    readonly classes: ArmClasses,
  ) {}

  get arms(): ArmPool["arms"] {
    return this.pool.arms;
  }
  /** Rows. */
  get size(): number {
    return this.classes.size;
  }
  /** Arms of each row that may be drawn. */
  get open(): Uint32Array {
    return this.classes.open;
  }
  get estimates(): Float64Array {
    return this.classes.estimates?.() ?? byClass(this.classes, (arm) => this.pool.estimate(arm));
  }
  /** The estimate of one arm, whatever its row. */
  estimate(arm: number): number {
    return this.pool.estimate(arm);
  }
  /** 0 where the estimator has none. */
  get spreads(): Float64Array {
    return byClass(this.classes, (arm) => this.pool.posterior?.spread(arm) ?? 0);
  }
  get rollouts(): Float64Array {
    return byClass(this.classes, (arm) => this.pool.rollouts[arm]!);
  }
  get groups(): Float64Array {
    return byClass(this.classes, (arm) => this.pool.groups[arm]!);
  }
  get priors(): Float64Array {
    return byClass(this.classes, (arm) => this.pool.prior(arm));
  }
  /** Σ over all arms. */
  get totals(): ArmPool["totals"] {
    return this.pool.totals;
  }
}

/** Unknown estimates count as the largest known one, so that each arm gets drawn; none known at all: 0. */
export function optimistic({ estimates }: { readonly estimates: Float64Array }): Float64Array {
  const top = largest(estimates);
  const best = top === Number.NEGATIVE_INFINITY ? 0 : top;
  return estimates.map((one) => (Number.isNaN(one) ? best : one));
}

/** Weights of at least 0 as shares of the open arms; where all are 0, equal shares. */
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
