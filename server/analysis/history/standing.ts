import { toWire, type WireNumber } from "../../../shared/rollouts/rollouts.ts";
import type { Curriculum } from "../../algorithm/curriculum/curriculum.ts";
import type { Clock } from "../../core/basics.ts";

/** Where the curriculum is after a step's outcomes. */
export interface ReplayedStep {
  readonly step: number;
  /** By arm, what the estimator believes; null: nothing yet. */
  readonly estimates: Readonly<Record<string, WireNumber | null>>;
  /** By arm, of the next draw. */
  readonly probabilities: Readonly<Record<string, number>>;
  /** Tasks of the groups that admission lets train. */
  readonly admitted: readonly string[];
  readonly stage: string;
  /** Where `probabilities` is counted of simulated draws: of how many, and the largest standard error of one. */
  readonly simulated?: { readonly draws: number; readonly standard_error: number };
}

/** Arms, what is believed of each, and the chance of each at that time. @param next of the next draw */
export function standing(
  curriculum: Curriculum,
  next: Clock,
): Pick<ReplayedStep, "estimates" | "probabilities" | "simulated"> {
  const { arms } = curriculum;
  const p = curriculum.probabilities(next);
  const draws = curriculum.simulatedDraws;
  const numbers = Array.from({ length: arms.size }, (_, arm) => arm);
  return {
    estimates: Object.fromEntries(
      numbers.map((arm) => {
        const estimate = curriculum.estimate(arm);
        return [arms.name(arm), Number.isNaN(estimate) ? null : toWire(estimate)];
      }),
    ),
    probabilities: Object.fromEntries(numbers.map((arm) => [arms.name(arm), p[arm]!])),
    ...(draws === 0 ? {} : { simulated: { draws, standard_error: largestError(p, draws) } }),
  };
}

/** Of shares that are counted of so many draws. */
const largestError = (shares: Float64Array, draws: number): number =>
  Math.sqrt(shares.reduce((most, p) => Math.max(most, p * (1 - p)), 0) / draws);
