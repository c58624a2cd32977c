/** Which tokens trainer and sampler disagree on too much: what the mask `rejected` and the correction `reject` share. */
import { z } from "zod";
import { param } from "../declaration.ts";
import type { CorrectionInput } from "../slots/correction.ts";

type Estimator = "k1" | "k2" | "k3";

type Level = "token" | "sequence_sum" | "sequence_mean" | "sequence_max";

/** Log-ratios that count at most, on both sides. */
const bound = 20;

/** Divergence of the denominator from the numerator at one token, from the log of their ratio. */
function estimate(estimator: Estimator, raw: number): number {
  const log = Math.min(bound, Math.max(-bound, raw));
  if (estimator === "k1") return -log;
  return estimator === "k2" ? 0.5 * log * log : Math.expm1(log) - log;
}

type Rows = { readonly batch: CorrectionInput["batch"]; readonly weights: ArrayLike<number> };

function largestOfRows(values: Float64Array, { batch, weights }: Rows): void {
  for (let row = 0; row < batch.rows; row++) {
    const [from, to] = [batch.offsets[row]!, batch.offsets[row + 1]!];
    let most = 0;
    for (let i = from; i < to; i++) if (weights[i] !== 0) most = Math.max(most, values[i]!);
    values.fill(most, from, to);
  }
}

/** Replaces each row's trained values by the row's sum or mean, in place. */
export function gather(
  values: Float64Array,
  { batch, weights }: { readonly batch: CorrectionInput["batch"]; readonly weights: ArrayLike<number> },
  how: "sum" | "mean",
): void {
  for (let row = 0; row < batch.rows; row++) {
    const [from, to] = [batch.offsets[row]!, batch.offsets[row + 1]!];
    let sum = 0;
    let count = 0;
    for (let i = from; i < to; i++) {
      if (weights[i] === 0) continue;
      sum += values[i]!;
      count += 1;
    }
    if (count > 0) values.fill(how === "mean" ? sum / count : sum, from, to);
  }
}

function statisticOf(input: Rows, logs: Float64Array, estimator: Estimator, level: Level): void {
  for (let i = 0; i < logs.length; i++) if (input.weights[i] !== 0) logs[i] = estimate(estimator, logs[i]!);
  if (level === "sequence_max") largestOfRows(logs, input);
  else if (level !== "token") gather(logs, input, level === "sequence_mean" ? "mean" : "sum");
}

/** What a rejection is: a divergence, the unit that it is of, and its bounds. */
export const rejectionParams = {
  estimator: param(
    z.enum(["k1", "k2", "k3"]).default("k1"),
    "The estimator of the divergence. k1 has two bounds, as ratios; k2 and k3 have one, in nats.",
  ),
  level: param(
    z.enum(["token", "sequence_sum", "sequence_mean", "sequence_max"]).default("token"),
    "The unit that is compared with the bounds and dropped as a whole.",
  ),
  low: param(
    z.number().positive().nullable().default(null),
    "For k1: the least ratio π_denominator / π_numerator. null: 1 / high.",
  ),
  high: param(
    z.number().positive().default(2),
    "For k1: the greatest ratio. Otherwise: the greatest divergence.",
  ),
};

/** Which tokens are within the bounds: from log-ratios, which are overwritten. Tokens of weight 0 are not compared. */
export function within(
  { estimator, level, low, high }: z.output<z.ZodObject<typeof rejectionParams>>,
  logs: Float64Array,
  rows: Rows,
): Uint8Array {
  const least = estimator === "k1" ? Math.log(low ?? 1 / high) : Number.NEGATIVE_INFINITY;
  const most = estimator === "k1" ? Math.log(high) : high;
  statisticOf(rows, logs, estimator, level);
  return Uint8Array.from(logs, (value, i) =>
    rows.weights[i] !== 0 && value >= least && value <= most ? 1 : 0,
  );
}
