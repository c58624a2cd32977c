import { z } from "zod";
import { baseline, param } from "../../../core/declaration.ts";
import { recordedColumn } from "../columns.ts";
import { noAdvantages } from "../population.ts";
import type { AdvantageInput } from "../../../core/slots/advantage.ts";

const name = "advantage.baseline: optimal_token_baseline";

type Importance = "none" | "token" | "sequence";

/** Squared, capped ratio of the trainer's probability to the sampler's, per token unit. */
function importance({ batch, units }: AdvantageInput, how: Importance, cap: number): Float64Array {
  const factors = new Float64Array(units.count).fill(1);
  if (how === "none") return factors;
  const [old, sampled] = [
    recordedColumn(batch, "logp_old", name),
    recordedColumn(batch, "logp_sampled", name),
  ];
  for (let row = 0; row < batch.rows; row++) {
    let sum = 0;
    for (let unit = units.offsets[row]!; unit < units.offsets[row + 1]!; unit++) {
      const gap = old[units.start[unit]!]! - sampled[units.start[unit]!]!;
      sum += gap;
      factors[unit] = Math.min(cap, Math.exp(gap)) ** 2;
    }
    if (how === "sequence")
      factors.fill(Math.min(cap, Math.exp(sum)) ** 2, units.offsets[row], units.offsets[row + 1]);
  }
  return factors;
}

/** Per token: what the row earns from here on, and the summed squared score of what it has written so far. */
function columnsOf(
  input: AdvantageInput,
  how: Importance,
  cap: number,
): { returns: Float64Array; energy: Float64Array } {
  const { batch, units, rewards, stats } = input;
  const logp = recordedColumn(batch, "logp_old", name);
  const squares = stats.sum_pi_squared ?? recordedColumn(batch, "sum_pi_squared", name);
  const factors = importance(input, how, cap);
  const [returns, energy] = [new Float64Array(units.count), new Float64Array(units.count)];
  for (let row = 0; row < batch.rows; row++) {
    const [from, to] = [units.offsets[row]!, units.offsets[row + 1]!];
    let sum = 0;
    let past = 0;
    for (let unit = to - 1; unit >= from; unit--) returns[unit] = sum += rewards[unit]!;
    for (let unit = from; unit < to; unit++) {
      const t = units.start[unit]!;
      energy[unit] = past += (1 - 2 * Math.exp(logp[t]!) + squares[t]!) * factors[unit]!;
    }
  }
  return { returns, energy };
}

export const optimalTokenBaseline = baseline({
  name: "optimal_token_baseline",
  aliases: ["tir_optimal_token_baseline"],
  summary:
    "A separate baseline for each position in the response: the group's returns from there on, weighted by the size of the gradient of the tokens so far (1 − 2π + Σπ², summed). A run computes `sum_pi_squared` for it; recorded rollouts need that column and `logp_old`.",
  formula: "B_t = Σ_i G_{i,t} W_{i,t} / (Σ_i W_{i,t} + ε), W_{i,t} = Σ_{s≤t} (1 − 2π_s + Σ_v π_v²)",
  sources: ["verl"],
  needs: ["siblings"],
  params: z.object({
    align: param(
      z.enum(["position", "trained"]).default("position"),
      "What counts as the same position: the same token index in the response (verl's optimal_token_baseline), or the same number of trained tokens before it (verl's tir_optimal_token_baseline).",
    ),
    zero_tail: param(
      z.boolean().default(true),
      "No baseline at positions that only the group's longest response reaches.",
    ),
    single: param(
      z.literal("reward").optional(),
      "A rollout without a scored sibling gets its return (verl); default: an error.",
    ),
    epsilon: param(z.number().nonnegative().default(1e-8), "Added to the denominator."),
    importance: param(
      z.enum(["none", "token", "sequence"]).default("none"),
      "Multiplies the weights by the squared ratio of trainer to sampler, capped at `cap`.",
    ),
    cap: param(z.number().positive().default(2), "Largest ratio."),
  }),
  create: (params) => ({
    level: "token",
    returns: "own",
    channels: [{ model: "policy", channel: "sum_pi_squared" }],
    centre(input) {
      const { units, batch } = input;
      const { returns, energy } = columnsOf(input, params.importance, params.cap);
      const advantages = noAdvantages(input);
      const place = (row: number, unit: number): number =>
        params.align === "position" ? units.start[unit]! - batch.offsets[row]! : unit - units.offsets[row]!;
      const size = (row: number): number => units.offsets[row + 1]! - units.offsets[row]!;
      for (const group of input.groups) {
        const rows = params.align === "trained" ? group.filter((row) => size(row) > 0) : group;
        const [above, beneath]: [number[], number[]] = [[], []];
        for (const row of rows)
          for (let unit = units.offsets[row]!; unit < units.offsets[row + 1]!; unit++) {
            const at = place(row, unit);
            above[at] = (above[at] ?? 0) + returns[unit]! * energy[unit]!;
            beneath[at] = (beneath[at] ?? 0) + energy[unit]!;
          }
        const [longest = 0, second = 0] = Array.from(rows, size).sort((a, b) => b - a);
        for (const row of rows) {
          const tail = params.zero_tail && size(row) === longest && longest > second;
          for (let unit = units.offsets[row]!; unit < units.offsets[row + 1]!; unit++) {
            const at = place(row, unit);
            const none = rows.length === 1 || (tail && at >= second);
            advantages[unit] = returns[unit]! - (none ? 0 : above[at]! / (beneath[at]! + params.epsilon));
          }
        }
      }
      return advantages;
    },
  }),
});
