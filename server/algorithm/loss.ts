/** From advantages to a loss with its gradients: objective, KL in the loss, entropy bonus. */
import { valueAt } from "../config/declaration.ts";
import type { CreateContext, StageBody } from "../config/resolved.ts";
import {
  type Aggregate,
  type Batch,
  type Channel,
  type Clock,
  type KlTerm,
  type Objective,
  type Stats,
  type Weigh,
  type Weighed,
} from "../seams.ts";
import { column } from "./column.ts";
import { create } from "./create.ts";
import { MaskChain, onlyWhere } from "./masks.ts";
import type { Advantages } from "./advantages.ts";
import type { Scored } from "./rewards.ts";

/** What `weigh` needs of one optimiser step, all columns of the mini-batch. */
export interface Update {
  /** Channels as they were: `logp` of the behaviour model, `logp:<model>` of others. */
  readonly old: Stats;
  readonly advantages: Float64Array;
  readonly weights: Float64Array;
  /** Rewards and successes of the mini-batch's rows, where they are known. */
  readonly scored?: Pick<Scored, "combined" | "success">;
}

const ready = (values: readonly [Channel, Float64Array][]): Weighed["gradients"] =>
  Object.fromEntries(values);

export class LossChain {
  private readonly objective: Objective;
  private readonly aggregate: Aggregate;
  readonly masks: MaskChain;

  constructor(
    private readonly body: StageBody,
    private readonly penalties: readonly KlTerm[],
    context: CreateContext,
  ) {
    this.objective = create(body.objective.loss, context);
    this.aggregate = create(body.objective.aggregate, context);
    this.masks = new MaskChain(body.mask, context);
  }

  get unit(): Objective["unit"] {
    return this.objective.unit;
  }

  /** The channels an update has to build at this moment. */
  channels(clock: Clock): Channel[] {
    const entropy: Channel[] = valueAt(this.body.objective.entropy, clock) === 0 ? [] : ["entropy"];
    const kl: Channel[] = this.penalties.length === 0 ? [] : ["logp"];
    return [...new Set([...this.objective.channels, ...kl, ...entropy, ...this.masks.channels])];
  }

  /** Mask × token weighting; 0 where no advantage exists. `batch` is masked. */
  weights(batch: Batch, advantages: Advantages): Float64Array {
    return Float64Array.from(batch.mask, (kept, i) => (kept === 1 && advantages.exists[i] === 1 ? 1 : 0));
  }

  weigh({ old, advantages, weights: given, scored }: Update, clock: Clock): Weigh {
    return (now, batch) => {
      const masked = this.masks.ofTheLoss({ batch, now, old, advantages, weights: given });
      const { weights, kept } = masked;
      const counted = this.aggregate(weights, batch);
      const factors = kept === undefined ? counted : onlyWhere(counted, kept);
      const { loss, gradients, metrics, touched } = this.objective.loss({
        batch,
        now,
        old,
        advantages,
        weights,
        factors,
        clock,
        ...(scored && { rewards: scored.combined, success: scored.success }),
      });
      const kl = this.penalty(now, old, counted, weights, clock);
      const bonus = this.bonus(now, factors, clock);
      const logp = added(gradients.logp, kl.gradient);
      return {
        loss: loss + kl.loss + bonus.loss,
        gradients: {
          ...gradients,
          ...ready([
            ...(logp === undefined ? [] : [["logp", logp] satisfies [Channel, Float64Array]]),
            ...(bonus.gradient === undefined
              ? []
              : [["entropy", bonus.gradient] satisfies [Channel, Float64Array]]),
          ]),
        },
        metrics: { ...metrics, ...entropyMetric(now, weights), ...kl.metrics },
        touched: { ...masked.touched, ...touched },
      };
    };
  }

  private penalty(
    now: Stats,
    old: Stats,
    factors: Float64Array,
    weights: Float64Array,
    clock: Clock,
  ): { loss: number; gradient: Float64Array | undefined; metrics: Record<string, number> } {
    let loss = 0;
    let gradient: Float64Array | undefined;
    const metrics: Record<string, number> = {};
    for (const { model, estimator, coefficient: at } of this.penalties) {
      const coefficient = at(clock);
      if (coefficient === 0) continue;
      const [own, other] = [
        column(now, "logp", "the KL in the loss"),
        column(old, `logp:${model}`, "the KL in the loss"),
      ];
      gradient ??= new Float64Array(own.length);
      for (let i = 0; i < own.length; i++) {
        if (weights[i] === 0) continue;
        loss += coefficient * factors[i]! * estimator.value(own[i]!, other[i]!);
        gradient[i]! += coefficient * factors[i]! * estimator.slope(own[i]!, other[i]!);
      }
      metrics[`policy/kl/${model}`] = meanOf(
        weights,
        (i) => Math.expm1(other[i]! - own[i]!) - (other[i]! - own[i]!),
      );
    }
    return { loss, gradient, metrics };
  }

  private bonus(
    now: Stats,
    factors: Float64Array,
    clock: Clock,
  ): { loss: number; gradient: Float64Array | undefined } {
    const coefficient = valueAt(this.body.objective.entropy, clock);
    if (coefficient === 0) return { loss: 0, gradient: undefined };
    const entropy = column(now, "entropy", "the entropy bonus");
    let loss = 0;
    for (let i = 0; i < entropy.length; i++)
      if (factors[i] !== 0) loss -= coefficient * factors[i]! * entropy[i]!;
    return { loss, gradient: factors.map((factor) => -coefficient * factor) };
  }
}

function added(left: Float64Array | undefined, right: Float64Array | undefined): Float64Array | undefined {
  if (left === undefined || right === undefined) return left ?? right;
  return left.map((value, i) => value + right[i]!);
}

/** Mean over the tokens that train; NaN where none does. */
function meanOf(weights: Float64Array, value: (i: number) => number): number {
  let [sum, count] = [0, 0];
  for (let i = 0; i < weights.length; i++) {
    if (weights[i] === 0) continue;
    sum += value(i);
    count += 1;
  }
  return sum / count;
}

const entropyMetric = ({ entropy }: Stats, weights: Float64Array): Record<string, number> =>
  entropy === undefined || weights.every((weight) => weight === 0)
    ? {}
    : { "policy/entropy": meanOf(weights, (i) => entropy[i]!) };
