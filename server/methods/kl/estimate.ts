/** What estimators from log-probs share: bounds as other trainers set them, and gradients that are not the value's own. */
import { z } from "zod";
import { param } from "../../core/declaration.ts";
import type { KlEstimator, KlPoint } from "../../core/slots/kl.ts";

/** An estimate as a function of d = log π − log π_model, with its derivative by d. */
export interface Estimate {
  value(d: number): number;
  slope(d: number): number;
}

export const estimatorParams = {
  straight_through: param(
    z.boolean().default(false),
    "Takes the value from the estimator and the gradient from k2, which in expectation is the gradient of the reverse KL (verl's `+` forms; OpenRLHF's unbiased gradient).",
  ),
  clamp_log_ratio: param(
    z
      .union([
        z.number().positive(),
        z.strictObject({
          low: param(z.number().max(0).optional(), "Lower bound on log π − log π_model; default: none."),
          high: param(z.number().min(0).optional(), "Upper bound on log π − log π_model; default: none."),
        }),
      ])
      .nullable()
      .default(null),
    "Bound on the log-ratio: one for both sides, or one for each; verl's k3: 20; OpenRLHF's k3: { low: -10 }.",
  ),
  clamp: param(
    z.number().positive().nullable().default(null),
    "Bound on the value's magnitude; 10 in verl's k3 and in all of OpenRLHF's estimators. No gradient beyond it.",
  ),
};
type Options = z.output<z.ZodObject<typeof estimatorParams>>;

function bounded(estimate: Estimate, options: Options): KlPoint {
  const { clamp_log_ratio: bound, straight_through } = options;
  const clamp = options.clamp ?? Number.POSITIVE_INFINITY;
  const low = typeof bound === "number" ? -bound : (bound?.low ?? Number.NEGATIVE_INFINITY);
  const high = typeof bound === "number" ? bound : (bound?.high ?? Number.POSITIVE_INFINITY);
  if (isPlain(options))
    return {
      value: (logp, other) => estimate.value(logp - other),
      slope: (logp, other) => estimate.slope(logp - other),
    };
  const within = (d: number): number => (d < low ? low : d > high ? high : d);
  return {
    value: (logp, other) => Math.min(clamp, Math.max(-clamp, estimate.value(within(logp - other)))),
    slope: (logp, other) => {
      const d = logp - other;
      if (straight_through) return d;
      if (d < low || d > high || Math.abs(estimate.value(d)) > clamp) return 0;
      return estimate.slope(d);
    },
  };
}

/** `forward` estimates KL(model ‖ policy) from the policy's own samples. */
export function estimatorOf(reverse: Estimate, forward: Estimate, options: Options): KlEstimator {
  return { ...bounded(reverse, options), forward: bounded(forward, options) };
}

export const isPlain = ({ straight_through, clamp_log_ratio, clamp }: Options): boolean =>
  !straight_through && clamp_log_ratio === null && clamp === null;
