import { z } from "zod";
import { UserError } from "../../../../shared/lib/errors.ts";
import { param, rewardTerm } from "../../../core/declaration.ts";
import { readerOf, type Policy } from "../../../core/policy.ts";
import { refers, template } from "../../../core/references.ts";
import type { RewardContext } from "../../../core/reward.ts";
import type { Batch } from "../../../core/rollouts.ts";
import { rubricOf } from "../../../core/rubrics.ts";
import type { TermValue } from "../../../core/slots/reward.ts";
import { fill } from "../../../core/templates.ts";
import type { Criterion } from "../../../../shared/rollouts/criteria.ts";
import { tokenLikelihoods, type TextReading } from "../models/readings.ts";
import { failure, value } from "../perRow.ts";
import { questionFor } from "./teller.ts";

const params = z.object({
  of: param(
    refers({ to: "model", also: ["policy", "reference"] }).default("reference"),
    "The model that judges: a name in `models`, `policy`, or `reference`.",
  ),
  principle: param(
    z.string().default("The answer is correct."),
    "What the response is held against, where the task has no principles of its own.",
  ),
  field: param(
    refers({ to: "field" }).optional(),
    "Field of the task's data with its own principles: texts, or `{ criterion, points }` whose points are weights.",
  ),
  ask: param(
    template("prompt", "response", "principle", "answer").default(
      "Question: {prompt}\n\nAnswer: {response}\n\nDoes the answer satisfy this principle? {principle}\nSay Yes or No.",
    ),
    "Template of the question: `{prompt}`, `{response}`, `{principle}`, the task's `{answer}`.",
  ),
  yes: param(z.string().min(1).default("Yes"), "The word for yes; its first token counts."),
  no: param(z.string().min(1).default("No"), "The word for no."),
});
type Params = z.output<typeof params>;

function wordsOf({ tokenizer }: Policy, { yes, no }: Params): readonly [Int32Array, Int32Array] {
  const [one, other] = [tokenizer.encode(yes).subarray(0, 1), tokenizer.encode(no).subarray(0, 1)];
  if (one[0] !== undefined && other[0] !== undefined && one[0] !== other[0]) return [one, other];
  throw new UserError(`The judge's tokenizer begins ${JSON.stringify(yes)} and ${JSON.stringify(no)} alike`, {
    code: "judge-words",
    action: "Choose a `yes` and a `no` that differ in their first token.",
  });
}

interface Question {
  readonly row: number;
  readonly principle: Criterion;
  readonly context: Int32Array;
}

function questionsOf(batch: Batch, judge: Policy, { principle, field, ask }: Params): Question[] {
  return batch.records.flatMap(({ task, response }, row) => {
    const own = field === undefined ? [] : rubricOf(task, field);
    const principles: readonly Criterion[] = own.length > 0 ? own : [{ text: principle, points: 1 }];
    return principles.map((one) => {
      const words = { prompt: task.prompt, response, principle: one.text, answer: task.answer ?? "" };
      return { row, principle: one, context: questionFor(judge, fill(ask, words)) };
    });
  });
}

async function score(batch: Batch, { models }: RewardContext, options: Params): Promise<TermValue[]> {
  const judge = readerOf(models, options.of);
  const words = wordsOf(judge, options);
  const questions = questionsOf(batch, judge, options);
  const fitting = questions.filter(({ context }) => context.length < judge.context);
  const readings = fitting.flatMap(({ row, context }) =>
    words.map((text): TextReading => ({ row, context: [...context], text })),
  );
  const logp = await tokenLikelihoods(readings, batch, models, options.of);
  const odds = new Map(fitting.map((question, i) => [question, logp[2 * i]![0]! - logp[2 * i + 1]![0]!]));
  return batch.records.map((_, row) => {
    const own = questions.filter((question) => question.row === row);
    if (own.some((question) => !odds.has(question)))
      return failure("the question to the judge fills its context");
    const sum = own.reduce((total, question) => total + question.principle.points * odds.get(question)!, 0);
    const criteria = own.map(({ principle: { text, points, name } }, k) => ({
      ...(name !== undefined && { name }),
      ...{ text, points, met: 1 / (1 + Math.exp(-odds.get(own[k]!)!)) },
    }));
    return { ...value(sum), criteria };
  });
}

export const judgeLogit = rewardTerm({
  name: "judge_logit",
  summary:
    "How much likelier a model's answer to a question about the response is yes than no, at one token: a judge without a word written. Each principle's probability is recorded.",
  formula: "r = Σ_k w_k (log p(Yes | x, y, P_k) − log p(No | x, y, P_k))",
  sources: ["RLBFF: Binary Flexible Feedback to bridge between Human Feedback & Verifiable Rewards"],
  judges: "answer",
  params,
  create: (options) => ({ score: (batch, context) => score(batch, context, options) }),
});
