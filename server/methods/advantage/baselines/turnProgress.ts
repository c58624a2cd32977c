import { z } from "zod";
import { baseline, param } from "../../../core/declaration.ts";
import type { AdvantageInput } from "../../../core/slots/advantage.ts";
import { noAdvantages } from "../population.ts";
import { deviation, mean, scaled } from "../spread.ts";

const params = z.object({
  weight: param(z.number().nonnegative().default(0.2), "w, of a turn's credit; 0: its rollout's alone."),
  ahead: param(z.number().int().min(1).default(3), "K, over how many turns from its own a turn's credit is."),
  terminal: param(
    z.number().nonnegative().default(2),
    "c: turns whose K reach the last one that has a reward are credited with the rollout's advantage, too.",
  ),
});
type Params = z.output<typeof params>;

const last = ({ units }: AdvantageInput, row: number): number => units.offsets[row + 1]! - 1;

/** The mean of what turns [from, to) earned, the further away the less. */
function discounted(rewards: Float64Array, from: number, to: number, gamma: number): number {
  let [sum, weights] = [0, 0];
  for (let unit = to - 1; unit >= from; unit--) {
    sum = rewards[unit]! + gamma * sum;
    weights = 1 + gamma * weights;
  }
  return sum / weights;
}

/** The last turn keeps the rollout's advantage; those before it have their credit in addition. */
function credit(
  input: AdvantageInput,
  row: number,
  outcome: number,
  { weight, ahead, terminal }: Params,
  into: Float64Array,
): void {
  const { units, rewards, gamma } = input;
  const end = last(input, row);
  for (let unit = units.offsets[row]!; unit < end; unit++) {
    const to = Math.min(unit + ahead, end);
    const filled = to === end ? terminal * gamma ** (end - unit) * outcome : 0;
    into[unit] = outcome + weight * (discounted(rewards, unit, to, gamma) + filled);
  }
  if (end >= units.offsets[row]!) into[end] = outcome;
}

export const turnProgress = baseline({
  name: "turn_progress",
  aliases: ["trace"],
  summary:
    "The rollout's outcome among its group, and for each turn before the last a part of what it and the next few earned, compared with nothing. What the last turn earned is the outcome; turns before it are rewarded by a term of their own, such as `answer_progress`.",
  formula:
    "A_i = (R_i − mean R) / std R; A_{i,t} = A_i + w (Σ_{j<K} γ^j r_{t+j} / Σ_{j<K} γ^j + [t + K ≥ T] c γ^{T−t} A_i) for t < T, A_i at the last turn T",
  sources: ["TRACE: Turn-level Reward Assignment via Credit Estimation for Long-Horizon Agents"],
  status: "approximate",
  needs: ["siblings"],
  params,
  create: (options) => ({
    level: "turn",
    returns: "own",
    centre: (input) => {
      const outcomes = Float64Array.from(
        { length: input.batch.rows },
        (_, row) => input.rewards[last(input, row)]!,
      );
      const result = noAdvantages(input);
      for (const rows of input.groups) {
        const [middle, spread] = [mean(outcomes, rows), deviation(outcomes, rows, true)];
        for (const row of rows)
          credit(input, row, scaled(outcomes[row]! - middle, spread, 0), options, result);
      }
      return result;
    },
  }),
});
