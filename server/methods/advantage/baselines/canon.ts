import { z } from "zod";
import { schedulable, valueAt } from "../../../core/schedule.ts";
import { baseline, param } from "../../../core/declaration.ts";
import { recordedColumn } from "../columns.ts";
import type { Batch } from "../../../core/rollouts.ts";
import { alone, noAdvantages, single } from "../population.ts";
import { mean } from "../spread.ts";
import type { AdvantageInput } from "../../../core/slots/advantage.ts";

/** What a row is ranked by within its group. */
function metricOf({ batch }: AdvantageInput, metric: "entropy" | "length"): (row: number) => number {
  const entropy =
    metric === "entropy" ? recordedColumn(batch, "entropy", "advantage.baseline: canon") : undefined;
  return (row) => {
    let sum = 0;
    let count = 0;
    for (let t = batch.offsets[row]!; t < batch.offsets[row + 1]!; t++) {
      if (batch.mask[t] !== 1) continue;
      sum += entropy?.[t] ?? 0;
      count += 1;
    }
    return entropy === undefined ? count : sum / Math.max(1, count);
  };
}

/** The lower and the upper half; the lower is the smaller where they are unequal. Ties go by the rollout's index. */
function halves(rows: Int32Array, metric: (row: number) => number, batch: Batch): [number[], number[]] {
  const ranked = Array.from(rows, (row) => ({ row, value: metric(row), index: batch.records[row]!.index }))
    .sort((a, b) => a.value - b.value || a.index - b.index)
    .map(({ row }) => row);
  const middle = ranked.length >> 1;
  return [ranked.slice(0, middle), ranked.slice(middle)];
}

export const canon = baseline({
  name: "canon",
  summary:
    "Splits the group at the median of a metric and compares each rollout with the other half (μ) and with its own (1 − μ). μ = ½ with equal halves is the group mean.",
  formula: "A = μ (r − mean_{other half} r) + (1 − μ) (r − mean_{own half} r)",
  sources: ["Conditional Advantage Estimation for Reinforcement Learning in Large Reasoning Models"],
  needs: ["siblings"],
  params: z.object({
    metric: param(
      z.enum(["entropy", "length"]).default("entropy"),
      "Mean entropy of the trained tokens, or their number.",
    ),
    mu: param(
      schedulable(z.number().min(0).max(1)).default(0.5),
      "μ: 1 compares with the other half alone, 0 with the own half.",
    ),
    alpha: param(
      schedulable(z.number().min(0).max(1)).default(1),
      "Factor on the rewards of one half in the comparison of the two; below 1 leans to the other.",
    ),
    discounted: param(
      z.enum(["high", "low"]).optional(),
      "The half whose rewards α multiplies; default: the long one, or the one of low entropy.",
    ),
    single: single("zero"),
  }),
  create: (params) => ({
    level: "response",
    centre(input) {
      const metric = metricOf(input, params.metric);
      const [mu, alpha] = [valueAt(params.mu, input.clock), valueAt(params.alpha, input.clock)];
      const discounted = params.discounted ?? (params.metric === "length" ? "high" : "low");
      const [lowFactor, highFactor] = discounted === "low" ? [alpha, 1] : [1, alpha];
      const rowValues = new Float64Array(input.batch.rows).fill(Number.NaN);
      for (const rows of input.groups) {
        if (rows.length === 1) {
          rowValues[rows[0]!] = alone(params.single ?? "zero", input.totals[rows[0]!]!);
          continue;
        }
        const [low, high] = halves(rows, metric, input.batch);
        const [lowMean, highMean] = [mean(input.totals, low), mean(input.totals, high)];
        const compare = (r: number, factor: number, other: number, own: number): number =>
          mu * (factor * r - other) + (1 - mu) * (r - own);
        for (const row of low)
          rowValues[row] = compare(input.totals[row]!, lowFactor, highFactor * highMean, lowMean);
        for (const row of high)
          rowValues[row] = compare(input.totals[row]!, highFactor, lowFactor * lowMean, highMean);
      }
      const centred = noAdvantages(input);
      input.units.row.forEach((row, unit) => (centred[unit] = rowValues[row]!));
      return centred;
    },
  }),
});
