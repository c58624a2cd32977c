import { z } from "zod";
import { param, rewardTerm } from "../../../core/declaration.ts";
import { refers, template } from "../../../core/references.ts";
import type { Batch } from "../../../core/rollouts.ts";
import type { RewardContext } from "../../../core/reward.ts";
import type { TermValue } from "../../../core/slots/reward.ts";
import { fill } from "../../../core/templates.ts";
import { failure, none, value } from "../perRow.ts";
import { numbersOf } from "../said.ts";
import { merge, merged, rangeOf, scoreIn, scoreParams } from "./scores.ts";
import { tellerOf, tellerParam, type Teller } from "./teller.ts";

const params = z.object({
  judge: param(tellerParam(), "Who scores: a server (`{ url, model }`) or a model of the run (`{ of }`)."),
  also: param(
    z.array(tellerParam()).default([]),
    "Further judges of every response; a response that one of them cannot score is an error.",
  ),
  merge,
  ask: param(
    template("prompt", "response", "answer", "low", "high").default(
      "Question: {prompt}\n\nAnswer: {response}\n\nRate the answer from {low} (useless) to {high} (perfect). Think briefly, then end with a line `Score: ` and the number.",
    ),
    "Template of the question: `{prompt}`, `{response}`, the task's `{answer}`, `{low}`, `{high}`.",
  ),
  ...scoreParams,
  unless: param(
    refers({ to: "term" }).optional(),
    "A reward term that may decide before: the judge is asked only where it is below `at_least`, and applies only there. With `combine: max`, a rule and then a judge.",
  ),
  at_least: param(z.number().default(1), "For `unless`: where that term, before its weight, is decided."),
});
type Params = z.output<typeof params>;

const questionOf = ({ task, response }: Batch["records"][number], { ask, low, high }: Params): string =>
  fill(ask, {
    prompt: task.prompt,
    response,
    answer: task.answer ?? "",
    low: String(low),
    high: String(high),
  });

/** What a row gets without a judge; undefined: the judge is asked. */
function before(batch: Batch, context: RewardContext, options: Params): (TermValue | undefined)[] {
  if (options.unless === undefined) return batch.records.map(() => undefined);
  return numbersOf(context, options.unless).map((said) => {
    if (typeof said === "number") return said >= options.at_least ? none : undefined;
    return said.kind === "error" ? said : undefined;
  });
}

async function judged(
  batch: Batch,
  context: RewardContext,
  options: Params,
  tellers: readonly Teller[],
): Promise<TermValue[]> {
  const decided = before(batch, context, options);
  const rows = decided.flatMap((one, row) => (one === undefined ? [row] : []));
  const questions = rows.map((row) => questionOf(batch.records[row]!, options));
  const told = await Promise.all(tellers.map((ask) => ask(questions, context)));
  const scores = new Map(
    rows.map((row, i) => [
      row,
      merged(
        told.map((one) => scoreIn(one[i]!, options)),
        options.merge,
      ),
    ]),
  );
  return decided.map((one, row) => {
    if (one !== undefined) return one;
    const score = scores.get(row)!;
    return typeof score === "number" ? value(score) : failure(score);
  });
}

export const judge = rewardTerm({
  name: "judge",
  summary:
    "A judge's score of the response on a scale: by a model of the run, the policy itself among them, or a server; of several judges, merged. A response without a readable score is an error.",
  formula: "r = (s − low) / (high − low)",
  sources: [
    "Efficient Online RFT with Plug-and-Play LLM Judges: Unlocking State-of-the-Art Performance",
    "SSR-Zero: Simple Self-Rewarding Reinforcement Learning for Machine Translation",
    "CoSineVerifier: Tool-Augmented Answer Verification for Computation-Oriented Scientific Questions",
    "Training Language Models to Critique With Multi-agent Feedback",
  ],
  judges: "answer",
  range: rangeOf,
  reads: ({ unless }) => (unless === undefined ? [] : [unless]),
  params,
  create: (options) => {
    const tellers = [options.judge, ...options.also].map(tellerOf);
    return { score: (batch, context) => judged(batch, context, options, tellers) };
  },
});
