import { z } from "zod";
import { baseline, param } from "../../../core/declaration.ts";
import { alone, noAdvantages, populations, single, type Single } from "../population.ts";
import type { AdvantageInput } from "../../../core/slots/advantage.ts";

/** Reward minus the mean of the others' rewards, within each population. */
function without(input: AdvantageInput, sets: readonly Int32Array[], rule: Single): Float64Array {
  const centred = noAdvantages(input);
  for (const units of sets) {
    let sum = 0;
    for (const unit of units) sum += input.rewards[unit]!;
    for (const unit of units) {
      const reward = input.rewards[unit]!;
      centred[unit] = units.length === 1 ? alone(rule, reward) : reward - (sum - reward) / (units.length - 1);
    }
  }
  return centred;
}

/** Below response level a sibling counts with the mean of its units' rewards, however many they are. */
function againstMeans(input: AdvantageInput, own: "as_is" | "scaled", rule: Single): Float64Array {
  const centred = noAdvantages(input);
  const { offsets } = input.units;
  for (const rows of input.groups) {
    const means = Array.from(rows, (row) => meanOf(input.rewards, offsets[row]!, offsets[row + 1]!));
    const sum = means.reduce((total, value) => total + value, 0);
    const others = rows.length - 1;
    rows.forEach((row, i) => {
      const [factor, baseline] =
        own === "scaled" ? [rows.length / others, sum / others] : [1, (sum - means[i]!) / others];
      for (let unit = offsets[row]!; unit < offsets[row + 1]!; unit++)
        centred[unit] =
          others === 0 ? alone(rule, input.rewards[unit]!) : factor * input.rewards[unit]! - baseline;
    });
  }
  return centred;
}

function meanOf(values: Float64Array, start: number, end: number): number {
  let sum = 0;
  for (let i = start; i < end; i++) sum += values[i]!;
  return end === start ? 0 : sum / (end - start);
}

export const leaveOneOut = baseline({
  name: "leave_one_out",
  aliases: ["rloo"],
  summary:
    "Reward minus the mean reward of the group's other rollouts; a rollout without a scored sibling has no advantage. Below response level a sibling counts with the mean over its units.",
  formula: "A_i = r_i − (Σ_{j≠i} r_j) / (n − 1)",
  sources: [
    "Back to Basics: Revisiting REINFORCE Style Optimization for Learning from Human Feedback in LLMs",
    "Process Reinforcement through Implicit Rewards",
  ],
  needs: ["siblings"],
  params: z.object({
    single: single("none"),
    among: param(
      z.enum(["rows", "place"]).optional(),
      "Below response level: the others' means (default), or only their unit at the same position (first, second, …).",
    ),
    own: param(
      z.enum(["as_is", "scaled"]).optional(),
      "Below response level, with `among: rows`: r_t minus the others' mean of means (as_is, PRIME's paper; default), or scaled: n/(n − 1) r_t − Σ_j mean_j/(n − 1) (its released code). The two agree over a whole response.",
    ),
  }),
  create: ({ among = "rows", own = "as_is", single: rule = "none" }) => ({
    centre: (input) =>
      input.units.level === "response" || among === "place"
        ? without(input, populations(input, "place"), rule)
        : againstMeans(input, own, rule),
  }),
});
