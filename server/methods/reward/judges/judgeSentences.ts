import { z } from "zod";
import { param, rewardTerm } from "../../../core/declaration.ts";
import { refers, template } from "../../../core/references.ts";
import type { RewardContext } from "../../../core/reward.ts";
import type { Batch } from "../../../core/rollouts.ts";
import type { TermValue } from "../../../core/slots/reward.ts";
import { fill, textField } from "../../../core/templates.ts";
import { failure, value } from "../perRow.ts";
import { verdictOf } from "./verdict.ts";
import { tellerOf, tellerParam, type Teller } from "./teller.ts";

const params = z.object({
  judge: param(tellerParam(), "Who judges: a server (`{ url, model }`) or a model of the run (`{ of }`)."),
  documents: param(
    refers({ to: "field" }).default("documents"),
    "Field of the task's data with the texts that sentences are held against.",
  ),
  faithful: param(
    template("prompt", "documents", "response", "sentence").default(
      "Documents: {documents}\n\nQuestion: {prompt}\n\nSentence of an answer: {sentence}\n\nDo the documents support the sentence? Reason, then say yes or no.",
    ),
    "Template of the first question about each sentence: `{prompt}`, `{documents}`, `{response}`, `{sentence}`.",
  ),
  correct: param(
    template("prompt", "documents", "response", "sentence", "reasoning").default(
      "Question: {prompt}\n\nSentence of an answer: {sentence}\n\nOn whether documents support it: {reasoning}\n\nIs the sentence correct? Say yes or no.",
    ),
    "Template of the second question; `{reasoning}` is what was said to the first.",
  ),
  aggregate: param(
    z.enum(["mean", "min"]).default("mean"),
    "The response's reward: the share of correct sentences, or 1 only if all are correct.",
  ),
});
type Params = z.output<typeof params>;

/** Sentences of a text, without white space around them. */
export const sentencesOf = (text: string): string[] =>
  (text.match(/[\s\S]*?(?:[.!?](?=\s|$)|\n|$)/g) ?? [])
    .map((part) => part.trim())
    .filter((part) => part !== "");

async function judged(
  batch: Batch,
  context: RewardContext,
  options: Params,
  ask: Teller,
): Promise<TermValue[]> {
  const parts = batch.records.flatMap((record, row) =>
    sentencesOf(record.response).map((sentence) => ({
      row,
      words: {
        prompt: record.task.prompt,
        documents: textField(record.task, options.documents) ?? "",
        response: record.response,
        sentence,
      },
    })),
  );
  const first = await ask(
    parts.map(({ words }) => fill(options.faithful, words)),
    context,
  );
  const second = await ask(
    parts.map(({ words }, i) => {
      const told = first[i]!;
      return fill(options.correct, { ...words, reasoning: "text" in told ? told.text : "" });
    }),
    context,
  );
  const verdicts = parts.map(({ row, words: { sentence } }, i) => ({
    row,
    sentence,
    // Where the first question failed, the second was asked without what it needs.
    verdict: verdictOf("error" in first[i]! ? first[i]! : second[i]!),
  }));
  return batch.records.map((_, row): TermValue => {
    const own = verdicts.filter((one) => one.row === row);
    const unknown = own.find(({ verdict }) => typeof verdict === "string");
    const met = own.map(({ verdict }) => (verdict === 1 ? 1 : 0) as number);
    const criteria = own.map(({ sentence, verdict }) => ({
      text: sentence,
      points: 1,
      met: typeof verdict === "string" ? null : verdict,
    }));
    if (unknown !== undefined) return { ...failure(String(unknown.verdict)), criteria };
    if (own.length === 0) return value(0);
    const mean = met.reduce((sum, one) => sum + one, 0) / met.length;
    return { ...value(options.aggregate === "mean" ? mean : Math.min(...met)), criteria };
  });
}

export const judgeSentences = rewardTerm({
  name: "judge_sentences",
  summary:
    "Each sentence of the response is judged in two steps: whether documents support it, with reasons, and then whether it is correct. Verdicts are recorded by sentence.",
  formula: "r = mean_s c_s or min_s c_s, c_s ∈ {0, 1}",
  sources: ["From Faithfulness to Correctness: Generative Reward Models that Think Critically"],
  status: "approximate",
  judges: "answer",
  range: () => [0, 1],
  params,
  create: (options) => {
    const ask = tellerOf(options.judge);
    return { score: (batch, context) => judged(batch, context, options, ask) };
  },
});
