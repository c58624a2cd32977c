import { z } from "zod";
import { refers } from "../../../core/references.ts";
import { rewardTerm, param } from "../../../core/declaration.ts";
import { failure, none, value } from "../perRow.ts";
import type { TermValue } from "../../../core/slots/reward.ts";
import type { Batch } from "../../../core/rollouts.ts";
import type { Models } from "../../../core/policy.ts";
import type { RewardTerm } from "../../../core/reward.ts";
import { askedOf, tokenLikelihoods, type TextReading } from "./readings.ts";
import { withoutEnd } from "../../../core/rows/ends.ts";

/** Σ_t log p(text_t | context, text_<t) of each reading. */
const likelihoods = async (...asked: Parameters<typeof tokenLikelihoods>): Promise<number[]> =>
  (await tokenLikelihoods(...asked)).map((logp) => logp.reduce((sum, one) => sum + one, 0));

const params = z.object({
  model: param(
    refers({ to: "model", also: ["reference"] })
      .min(1)
      .default("no_think"),
    "The model that reads the text without the thought; in the paper, a moving average of the policy.",
  ),
  between: param(z.string().default(""), "The separator between a thought and the text, e.g. `</think>`."),
  per: param(
    z.enum(["text", "token"]).default("text"),
    "text: the gain over the whole text that follows, in nats; token: the mean over its tokens.",
  ),
});

async function score(
  batch: Batch,
  models: Models,
  { model, between, per }: z.output<typeof params>,
): Promise<TermValue[]> {
  const { tokenizer, context: room } = models.get("policy");
  const bridge = tokenizer.encode(between);
  const results: TermValue[] = batch.records.map(() => none);
  const [reasoned, plain]: [TextReading[], Map<string, TextReading>] = [[], new Map()];
  batch.records.forEach(({ task }, row) => {
    if (task.answer === undefined) {
      results[row] = failure(
        `information_gain needs the text that follows, and task ${task.id} has none: use a \`corpus\``,
      );
      return;
    }
    const text = tokenizer.encode(task.answer);
    const asked = askedOf(batch, row);
    const thought = withoutEnd(batch.tokens.subarray(batch.offsets[row], batch.offsets[row + 1]), tokenizer);
    const context = [...asked, ...thought, ...bridge];
    if (context.length + text.length > room) {
      results[row] = failure(
        `prompt, thought and text are ${context.length + text.length} tokens, more than the model's context of ${room}`,
      );
      return;
    }
    if (text.length === 0) return;
    reasoned.push({ row, context, text });
    plain.set(`${batch.group[row]!}`, { row, context: [...asked], text });
  });
  const withThought = await likelihoods(reasoned, batch, models, "policy");
  const bases = await likelihoods([...plain.values()], batch, models, model);
  const base = new Map([...plain.keys()].map((group, i) => [group, bases[i]!]));
  reasoned.forEach(({ row, text }, i) => {
    const gain = withThought[i]! - base.get(`${batch.group[row]!}`)!;
    results[row] = Number.isFinite(gain)
      ? value(per === "token" ? gain / text.length : gain)
      : failure(`the gain in likelihood is ${gain}`);
  });
  return results;
}

export const informationGain = rewardTerm({
  name: "information_gain",
  summary:
    "How much a thought raises the likelihood of the text that follows, compared with a copy of the policy that reads the text without the thought.",
  formula: "r = log p_θ(x_t | x_<t, c) − log p_φ(x_t | x_<t), φ ← 0.999 φ + 0.001 θ",
  sources: ["RLP: Reinforcement as a Pretraining Objective"],
  judges: "answer",
  params,
  create: (options): RewardTerm => ({ score: (batch, { models }) => score(batch, models, options) }),
});
