import { z } from "zod";
import { baseline, schedulable, valueAt, type Scheduled } from "../config/declaration.ts";
import { finite, headColumn } from "./columns.ts";
import type { AdvantageInput } from "./types.ts";
import { gapAfter } from "./units.ts";

const lambdaSchema = z.union([
  schedulable(z.number().min(0).max(1)),
  z.strictObject({
    length: z
      .number()
      .positive()
      .describe("α of λ = 1 − 1 / (α · tokens of the response): longer responses look further."),
  }),
]);
type Lambda = Scheduled | { readonly length: number };

function lambdaOf(lambda: Lambda, input: AdvantageInput, row: number): number {
  if (typeof lambda === "object" && "length" in lambda) {
    const { offsets, mask } = input.batch;
    let tokens = 0;
    for (let t = offsets[row]!; t < offsets[row + 1]!; t++) tokens += mask[t]!;
    return Math.max(0, 1 - 1 / Math.max(lambda.length * tokens, 1));
  }
  return valueAt(lambda, input.clock);
}

interface Recursion {
  readonly values: Float64Array;
  readonly gamma: number;
  readonly lambda: Lambda;
  readonly bootstrap: boolean;
}

/**
 * A_u = δ_u + γλ A_{u+1} with δ_u = r_u + γ V_{u+1} − V_u, from a row's last unit to its first. Untrained tokens
 * between two units pass everything on as it is, or, where they count, are steps of value and reward 0.
 */
function estimated(input: AdvantageInput, { values, gamma, lambda, bootstrap }: Recursion): Float64Array {
  const { units, rewards, batch } = input;
  const advantages = new Float64Array(units.count);
  const counting = input.observations === "discount" && units.level === "token";
  for (let row = 0; row < batch.rows; row++) {
    const [from, to] = [units.offsets[row]!, units.offsets[row + 1]!];
    if (from === to) continue;
    const decay = gamma * lambdaOf(lambda, input, row);
    const cut = bootstrap && batch.records[row]!.finish === "length";
    let nextValue = cut ? values[units.first[to - 1]!]! : 0;
    let next = 0;
    for (let unit = to - 1; unit >= from; unit--) {
      if (Number.isNaN(rewards[unit]!)) {
        advantages[unit] = Number.NaN;
        continue;
      }
      const gap = counting && unit < to - 1 ? gapAfter(units, unit) : 0;
      if (gap > 0) {
        next = decay ** (gap - 1) * (gamma * nextValue + decay * next);
        nextValue = 0;
      }
      const value = finite(values[units.first[unit]!]!, "the critic's value", batch, row);
      next = rewards[unit]! + gamma * nextValue - value + decay * next;
      nextValue = value;
      advantages[unit] = next;
    }
  }
  return advantages;
}

export const critic = baseline({
  name: "critic",
  aliases: ["gae"],
  summary:
    "Generalised advantage estimation with a critic's values: `values` of recorded rollouts, in a run a value head of the policy or of another model. At level response it is the reward minus the value of the prompt.",
  formula: "A_t = Σ_k (γλ)^k δ_{t+k}, δ_t = r_t + γ V(s_{t+1}) − V(s_t)",
  sources: [
    "High-Dimensional Continuous Control Using Generalized Advantage Estimation",
    "VAPO: Efficient and Reliable Reinforcement Learning for Advanced Reasoning Tasks",
  ],
  params: z.object({
    gamma: z
      .number()
      .min(0)
      .max(1)
      .optional()
      .describe("γ, the discount from one unit to the next; default: advantage.gamma."),
    lambda: lambdaSchema
      .default(1)
      .describe("λ: 0 trusts the critic for all that comes later, 1 the rewards; `{ length: α }` by length."),
    lambda_returns: lambdaSchema
      .optional()
      .describe("λ of what the critic learns from, where it is not the policy's; 1: plain returns."),
    head: z.string().default("value").describe("Name of the value head."),
    model: z.string().default("policy").describe("The model that has the head."),
    truncated: z
      .enum(["zero", "last_value"])
      .default("zero")
      .describe("What lies beyond a response cut at its limit: nothing, or the last token's value."),
  }),
  create: ({ gamma, lambda, lambda_returns, head, model, truncated }) => {
    const recursion = (input: AdvantageInput, by: Lambda): Recursion => ({
      values: headColumn(input.batch, input.stats, head, "advantage.baseline: critic"),
      gamma: gamma ?? input.gamma,
      lambda: by,
      bootstrap: truncated === "last_value",
    });
    return {
      level: "token",
      returns: "own",
      channels: [{ model, channel: `head:${head}` }],
      centre: (input) => estimated(input, recursion(input, lambda)),
      targets(input) {
        const { values, ...rest } = recursion(input, lambda_returns ?? lambda);
        return estimated(input, { values, ...rest }).map(
          (advantage, unit) => advantage + values[input.units.first[unit]!]!,
        );
      },
    };
  },
});
