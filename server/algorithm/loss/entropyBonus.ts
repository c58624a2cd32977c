/** The entropy bonus of a loss: value, derivative by each token's entropy, and what its coefficient learns of it. */
import { valueAt, type Scheduled } from "../../core/schedule.ts";
import type { StageBody } from "../../core/config/resolved.ts";
import type { EntropyOptions } from "../../core/blocks/objective.ts";
import { AdaptiveEntropy } from "../../methods/objective/entropy.ts";
import type { Clock } from "../../core/basics.ts";
import type { Stats } from "../../core/policy.ts";
import { column } from "../../methods/objective/column.ts";

interface BonusInput {
  readonly now: Stats;
  /** Of the tokens that the objective moves. */
  readonly weights: Float64Array;
  readonly factors: Float64Array;
  readonly clock: Clock;
}
export interface Bonus {
  readonly loss: number;
  readonly gradient: Float64Array | undefined;
  readonly metrics?: Readonly<Record<string, number>>;
}

export const none: Bonus = { loss: 0, gradient: undefined };

export class EntropyBonus {
  readonly adaptive: AdaptiveEntropy | undefined;
  private readonly coefficient: Scheduled;
  private readonly options: Partial<EntropyOptions>;

  constructor(entropy: StageBody["objective"]["entropy"]) {
    const detailed = typeof entropy === "object" && "coefficient" in entropy;
    this.options = detailed ? entropy : {};
    this.coefficient = detailed ? entropy.coefficient : entropy;
    const { adaptive } = this.options;
    if (adaptive !== undefined)
      this.adaptive = new AdaptiveEntropy(valueAt(this.coefficient, { step: 0, stageStep: 0 }), adaptive);
  }

  /** Whether the update has to build the entropy. An adaptive coefficient goes on measuring while it is 0. */
  needed(clock: Clock): boolean {
    return this.adaptive !== undefined || valueAt(this.coefficient, clock) !== 0;
  }

  of(input: BonusInput): Bonus {
    if (!this.needed(input.clock)) return none;
    const entropy = column(input.now, "entropy", "the entropy bonus");
    const factors = this.factors(entropy, input);
    const coefficient = this.adaptive?.coefficient ?? valueAt(this.coefficient, input.clock);
    let loss = 0;
    let sum = 0;
    let count = 0;
    const gradient = new Float64Array(factors.length);
    for (let i = 0; i < factors.length; i++) {
      if (factors[i] === 0) continue;
      loss -= coefficient * factors[i]! * entropy[i]!;
      gradient[i] = -coefficient * factors[i]!;
      sum += entropy[i]!;
      count += 1;
    }
    this.adaptive?.measure(sum / count);
    return {
      loss,
      gradient,
      metrics: this.adaptive === undefined ? {} : { "update/entropy_coefficient": coefficient },
    };
  }

  private factors(entropy: Float64Array, { weights, factors }: BonusInput): Float64Array {
    const { share = 1, low, high, aggregate = "objective" } = this.options;
    if (share === 1 && low === undefined && high === undefined && aggregate === "objective") return factors;
    const least = Math.max(low ?? Number.NEGATIVE_INFINITY, threshold(entropy, factors, share));
    const most = high ?? Number.POSITIVE_INFINITY;
    const chosen = factors.map((factor, i) =>
      factor !== 0 && entropy[i]! >= least && entropy[i]! <= most ? factor : 0,
    );
    if (aggregate === "objective") return chosen;
    let count = 0;
    for (const factor of chosen) if (factor !== 0) count += 1;
    return chosen.map((factor, i) => (factor === 0 ? 0 : weights[i]! / count));
  }
}

/** The entropy that the share of highest entropy reaches; interpolated between two tokens. */
function threshold(entropy: Float64Array, factors: Float64Array, share: number): number {
  if (share === 1) return Number.NEGATIVE_INFINITY;
  const sorted = entropy.filter((_, i) => factors[i] !== 0).sort();
  if (sorted.length === 0) return Number.NEGATIVE_INFINITY;
  const place = (1 - share) * (sorted.length - 1);
  const below = sorted[Math.floor(place)]!;
  return below + (place - Math.floor(place)) * (sorted[Math.ceil(place)]! - below);
}
