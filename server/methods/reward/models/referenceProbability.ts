import { z } from "zod";
import { rewardTerm, param } from "../../../core/declaration.ts";
import { refers } from "../../../core/references.ts";
import { withoutEnd } from "../../../core/rows/ends.ts";
import { failure, none, value } from "../perRow.ts";
import type { TermValue } from "../../../core/slots/reward.ts";
import type { Batch } from "../../../core/rollouts.ts";
import type { Models, Tokenizer } from "../../../core/policy.ts";
import type { RewardTerm } from "../../../core/reward.ts";
import { askedOf, tokenLikelihoods, type TextReading } from "./readings.ts";

const params = z.object({
  tags: param(
    z.array(z.string().min(1)).min(1).max(2).default(["think", "answer"]),
    "Tags of the reasoning and the answer, or of the answer alone.",
  ),
  of: param(
    z.enum(["mean", "mean_log", "geometric_mean", "product"]).default("mean"),
    "How the answer's token probabilities are combined. mean: their mean; mean_log: the mean of their logs; geometric_mean; product: the probability of the whole answer.",
  ),
  without: param(
    refers({ to: "model", also: ["reference", "policy", "none"] })
      .min(1)
      .default("reference"),
    "The model whose probability of the answer without reasoning is subtracted; `none` subtracts nothing. `reference` is the policy at the start.",
  ),
  least: param(
    z.number().nullable().default(0),
    "A gain below this is rewarded 0; null: every gain is the reward, negative ones too.",
  ),
});
type Params = z.output<typeof params>;

const count = (text: string, part: string): number => text.split(part).length - 1;

/** The response up to where its answer begins; undefined: it has not the wanted form. */
function beforeAnswer(response: string, tags: readonly string[]): string | undefined {
  const [answer, think] = [tags.at(-1)!, tags.length > 1 ? tags[0] : undefined];
  const open = `<${answer}>`;
  const at = response.indexOf(open);
  if (count(response, open) !== 1) return undefined;
  const [before, rest] = [response.slice(0, at), response.slice(at + open.length)];
  if (rest.trim() === "") return undefined;
  if (think !== undefined) {
    const [start, end] = [`<${think}>`, `</${think}>`];
    const once = count(response, start) === 1 && count(response, end) === 1;
    if (!once || !(before.indexOf(start) >= 0 && before.indexOf(start) < before.indexOf(end)))
      return undefined;
  }
  return before + open + (/^\s+/.exec(rest)?.[0] ?? " ");
}

/** After a response without the form, its last tokens left out as if it had been cut short for the answer. */
function appended(
  tokens: Int32Array,
  answer: string,
  tags: readonly string[],
  tokenizer: Tokenizer,
): number[] {
  const last = tags.at(-1)!;
  const lead = `${tags.length > 1 ? `</${tags[0]!}> ` : ""}<${last}> `;
  const length = tokenizer.encode(`${lead}${answer} </${last}>`).length + 1;
  return [...tokens.subarray(0, Math.max(0, tokens.length - length - 5)), ...tokenizer.encode(lead)];
}

function statistic(logp: Float64Array, of: Params["of"]): number {
  const sum = logp.reduce((total, one) => total + one, 0);
  switch (of) {
    case "mean":
      return logp.reduce((total, one) => total + Math.exp(one), 0) / logp.length;
    case "mean_log":
      return sum / logp.length;
    case "geometric_mean":
      return Math.exp(sum / logp.length);
    case "product":
      return Math.exp(sum);
  }
}

/** The answer conditioned on the row's reasoning, and on the prompt alone. */
function readingsOf(
  batch: Batch,
  row: number,
  answer: string,
  { tags }: Params,
  tokenizer: Tokenizer,
): { readonly reasoned: TextReading; readonly plain: TextReading } {
  const asked = askedOf(batch, row);
  const { response } = batch.records[row]!;
  const tokens = withoutEnd(batch.tokens.subarray(batch.offsets[row], batch.offsets[row + 1]), tokenizer);
  const head = beforeAnswer(response, tags);
  const written = head === undefined ? appended(tokens, answer, tags, tokenizer) : tokenizer.encode(head);
  const text = tokenizer.encode(answer);
  return {
    reasoned: { row, context: [...asked, ...written], text },
    plain: { row, context: [...asked, ...tokenizer.encode(" ")], text },
  };
}

async function score(batch: Batch, models: Models, options: Params): Promise<TermValue[]> {
  const { tokenizer, context: room } = models.get("policy");
  const results: TermValue[] = batch.records.map(() => none);
  const [reasoned, plain]: [TextReading[], Map<number, TextReading>] = [[], new Map()];
  batch.records.forEach(({ task }, row) => {
    const { answer } = task;
    if (answer === undefined || answer.trim() === "") {
      results[row] = failure(
        `reference_probability needs an answer, and task ${task.id} has none: set \`answer\` on its dataset`,
      );
      return;
    }
    const found = readingsOf(batch, row, answer.trim(), options, tokenizer);
    const length = found.reasoned.context.length + found.reasoned.text.length;
    if (length > room) {
      results[row] = failure(
        `prompt, reasoning and answer are ${length} tokens, more than the model's context of ${room}`,
      );
      return;
    }
    reasoned.push(found.reasoned);
    plain.set(batch.group[row]!, found.plain);
  });
  const withReasoning = await tokenLikelihoods(reasoned, batch, models, "policy");
  const bases =
    options.without === "none"
      ? []
      : await tokenLikelihoods([...plain.values()], batch, models, options.without);
  const base = new Map([...plain.keys()].map((group, i) => [group, bases[i]]));
  reasoned.forEach(({ row }, i) => {
    const before = base.get(batch.group[row]!);
    const gain =
      statistic(withReasoning[i]!, options.of) - (before === undefined ? 0 : statistic(before, options.of));
    results[row] = value(options.least !== null && gain < options.least ? 0 : gain);
  });
  return results;
}

export const referenceProbability = rewardTerm({
  name: "reference_probability",
  summary:
    "The likelihood of the task's answer conditioned on the policy's own reasoning, minus its likelihood without reasoning: a reward without a verifier.",
  formula: "r = max(0, mean_t π_θ(y*_t | x, z, y*_<t) − mean_t π_0(y*_t | x, y*_<t))",
  sources: ["RLPR: Extrapolating RLVR to General Domains without Verifiers"],
  judges: "answer",
  params,
  create: (options): RewardTerm => ({ score: (batch, { models }) => score(batch, models, options) }),
});
