import { z } from "zod";
import { refers } from "../../../core/references.ts";
import { rewardTerm, param } from "../../../core/declaration.ts";
import type { TermValue } from "../../../core/slots/reward.ts";
import type { Batch } from "../../../core/rollouts.ts";
import type { RewardTerm } from "../../../core/reward.ts";
import { learning, scoreBy, update as updateParam } from "./lesson.ts";

const params = z.object({
  model: param(
    refers({ to: "model" }).min(1),
    "The process reward model, a name in `models`; it has to train unless `update: frozen`.",
  ),
  reference: param(
    refers({ to: "model", also: ["reference"] })
      .min(1)
      .default("reference"),
    "The model that it is compared with: `reference`, or a name in `models`.",
  ),
  beta: param(z.number().positive().default(0.05), "Factor β on the log-ratio."),
  update: updateParam("online", "it learns from the same rollouts which of them are right"),
  from: param(
    refers({ to: "term" }).optional(),
    "The reward term whose values say what is right; default: the first term that has values.",
  ),
  level: param(
    z.enum(["token", "response"]).default("token"),
    "Whether every token is rewarded by its own ratio, or the response by their sum.",
  ),
  scale: param(
    z.enum(["none", "largest_return"]).default("none"),
    "largest_return: divide by the step's largest |Σ of the log-ratios from a token on|, so that none exceeds 1, whatever β is (PRIME's released code).",
  ),
});
type Params = z.output<typeof params>;

/** What log-ratios are multiplied by. */
function factorOf(ratios: readonly (readonly number[])[], { beta, scale }: Params): number {
  if (scale === "none") return beta;
  let largest = 0;
  for (const own of ratios) {
    let later = 0;
    for (let t = own.length - 1; t >= 0; t--) {
      later += own[t]!;
      largest = Math.max(largest, Math.abs(later));
    }
  }
  return 1 / (largest + 1e-6);
}

/** β log π/π_ref of the tokens that train, 0 elsewhere. */
async function implicitRewards(
  options: Params,
  batch: Batch,
  models: Parameters<RewardTerm["score"]>[1]["models"],
): Promise<TermValue[]> {
  const { model, reference, level } = options;
  const [{ logp: own }, { logp: other }] = [
    await scoreBy(models, model, batch, ["logp"]),
    await scoreBy(models, reference, batch, ["logp"]),
  ];
  const ratios = batch.records.map((_, row) => {
    const values: number[] = [];
    for (let t = batch.offsets[row]!; t < batch.offsets[row + 1]!; t++)
      values.push(batch.mask[t] === 1 ? own![t]! - other![t]! : 0);
    return values;
  });
  const factor = factorOf(ratios, options);
  return ratios.map((ratio): TermValue => {
    const values = ratio.map((value) => factor * value);
    return level === "token"
      ? { kind: "values", level, values }
      : { kind: "value", value: values.reduce((sum, value) => sum + value, 0) };
  });
}

export const implicitPrm = rewardTerm({
  name: "implicit_prm",
  aliases: ["prime"],
  summary:
    "A language model that learns only which responses are right rewards every token by its log-ratio to a reference.",
  formula: "r_t = β log π_prm(y_t) / π_ref(y_t), with π_prm fitted by BCE(σ(Σ_t r_t), right)",
  sources: ["Process Reinforcement through Implicit Rewards", "Free Process Rewards without Process Labels"],
  params,
  create: (options, context): RewardTerm => {
    const { model, reference: anchor, beta, from, update } = options;
    const loss = { use: "outcome_cross_entropy", params: { beta, anchor } };
    return {
      ...learning(update, { model, loss, from }, context),
      score: (batch, { models }) => implicitRewards(options, batch, models),
    };
  },
});
