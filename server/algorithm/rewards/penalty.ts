/** A KL penalty on the reward, per token. */
import { UserError } from "../../../shared/lib/errors.ts";
import type { KlTerm } from "../../core/slots/kl.ts";
import type { Clock, Model } from "../../core/basics.ts";
import type { Batch } from "../../core/rollouts.ts";
import type { Stats } from "../../core/policy.ts";

/** The log-probs that a KL penalty on the reward compares: behaviour against another model. */
function penaltyColumns(
  stats: Stats,
  { model }: KlTerm,
): { readonly own: Float64Array; readonly other: Float64Array } {
  const [own, other] = [stats.logp, model === "behaviour" ? stats.logp : stats[`logp:${model}`]];
  if (own === undefined || other === undefined) {
    throw new UserError(
      `the KL penalty on the reward needs the log-probs of ${own === undefined ? "the policy that generated" : `model "${model}"`}`,
      {
        code: "kl-columns",
        action:
          own === undefined
            ? "Record logp_old with the rollouts."
            : "Record logp_ref with the rollouts, or set `kl: []`.",
      },
    );
  }
  return { own, other };
}

/** A term of the penalty, with what it compares. */
interface Charge {
  readonly term: KlTerm;
  readonly coefficient: number;
  readonly own: Float64Array;
  readonly other: Float64Array;
  /** Per token; undefined: 1. */
  readonly factors: Float64Array | undefined;
}

/** The penalty of a batch: Σ over the terms of β · KL of each token that trains, 0 elsewhere. */
export class Penalty {
  private constructor(
    private readonly charges: readonly Charge[],
    private readonly batch: Batch,
  ) {}

  /** Undefined where no term counts now. */
  static of(terms: readonly KlTerm[], batch: Batch, stats: Stats, clock: Clock): Penalty | undefined {
    const charges = terms.flatMap((term): Charge[] => {
      const coefficient = term.coefficient(clock);
      if (coefficient === 0) return [];
      const factors = term.acts?.({ batch, old: stats, weights: batch.mask });
      return [{ term, coefficient, ...penaltyColumns(stats, term), factors }];
    });
    return charges.length === 0 ? undefined : new Penalty(charges, batch);
  }

  /** Of tokens [from, to), written to the beginning of `into`. @throws UserError where one is not finite */
  onto(into: Float64Array, from: number, to: number): void {
    into.fill(0, 0, to - from);
    for (const charge of this.charges) this.add(charge, into, from, to);
  }

  private add(
    { term: { estimator, model }, coefficient, own, other, factors }: Charge,
    into: Float64Array,
    from: number,
    to: number,
  ): void {
    const { mask } = this.batch;
    for (let t = from; t < to; t++) {
      if (mask[t] !== 1 || factors?.[t] === 0) continue;
      const value = estimator.value(own[t]!, other[t]!);
      if (!Number.isFinite(value)) throw infinite(this.batch, t, model, value);
      into[t - from]! += coefficient * (factors?.[t] ?? 1) * value;
    }
  }

  tokens(): Float64Array {
    const column = new Float64Array(this.batch.mask.length);
    this.onto(column, 0, column.length);
    return column;
  }

  /** Per row, the sum over its tokens. */
  rows(): Float64Array {
    const { rows, offsets } = this.batch;
    const sums = new Float64Array(rows);
    let near = new Float64Array(0);
    for (let row = 0; row < rows; row++) {
      const length = offsets[row + 1]! - offsets[row]!;
      if (near.length < length) near = new Float64Array(length);
      this.onto(near, offsets[row]!, offsets[row + 1]!);
      for (let i = 0; i < length; i++) sums[row]! += near[i]!;
    }
    return sums;
  }
}

function infinite({ offsets, records }: Batch, token: number, model: Model, value: number): UserError {
  const row = offsets.findLastIndex((offset) => offset <= token);
  const { group, index } = records[row]!;
  return new UserError(
    `the KL penalty on the reward is ${value} at token ${token - offsets[row]!} of rollout ${index} of group ${group}: the policy's or ${model}'s log-prob there is not a number or not finite`,
    {
      code: "kl-infinite",
      action: "Record finite log-probs for every token that trains, or choose an estimator with a clamp.",
    },
  );
}
