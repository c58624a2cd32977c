import { z } from "zod";
import { param, rewardTerm } from "../../../core/declaration.ts";
import { template } from "../../../core/references.ts";
import type { RewardContext } from "../../../core/reward.ts";
import type { Batch } from "../../../core/rollouts.ts";
import type { TermValue } from "../../../core/slots/reward.ts";
import { fill } from "../../../core/templates.ts";
import { failure, value } from "../perRow.ts";
import { onScale, rangeOf, scoreParams, type Scale } from "./scores.ts";
import { tellerOf, tellerParam, type Teller, type Told } from "./teller.ts";
import { numbersIn } from "./rankAgreement.ts";

const { low, high, to_unit } = scoreParams;
const params = z.object({
  judge: param(
    tellerParam(),
    "Who scores the list: a server (`{ url, model }`) or a model of the run (`{ of }`).",
  ),
  ask: param(
    template("prompt", "candidates", "count", "low", "high").default(
      "Question: {prompt}\n\n{candidates}\n\nScore each of the {count} answers from {low} to {high}. End with the scores in order, as [s1, s2, …].",
    ),
    "Template of the question about a group: `{prompt}`, `{candidates}` (numbered), `{count}`, `{low}`, `{high}`.",
  ),
  low,
  high,
  to_unit,
});
type Params = z.output<typeof params>;

/** A score for each of so many; a text: why there are none. */
function listIn(told: Told, count: number, scale: Scale): readonly number[] | string {
  if ("error" in told) return told.error;
  const scores = numbersIn(told.text);
  if (scores?.length !== count)
    return `the judge gave ${scores?.length ?? "no"} scores for ${count} answers: ${JSON.stringify(told.text.slice(-80))}`;
  const bad = scores.find((score) => score < scale.low || score > scale.high);
  if (bad !== undefined) return `the judge's score ${bad} is not from ${scale.low} to ${scale.high}`;
  return scores.map((score) => onScale(score, scale));
}

async function scored(
  batch: Batch,
  context: RewardContext,
  options: Params,
  ask: Teller,
): Promise<TermValue[]> {
  const groups = Array.from({ length: batch.groups }, (): number[] => []);
  batch.group.forEach((group, row) => groups[group]!.push(row));
  const asked = groups.filter((rows) => rows.length > 0);
  const questions = asked.map((rows) =>
    fill(options.ask, {
      prompt: batch.records[rows[0]!]!.task.prompt,
      candidates: rows.map((row, i) => `Answer ${i + 1}: ${batch.records[row]!.response}`).join("\n\n"),
      count: String(rows.length),
      low: String(options.low),
      high: String(options.high),
    }),
  );
  const told = await ask(questions, context);
  const values: TermValue[] = batch.records.map(() => failure("the judge gave no answer"));
  asked.forEach((rows, i) => {
    const scores = listIn(told[i]!, rows.length, { ...options, pattern: "" });
    rows.forEach(
      (row, k) => (values[row] = typeof scores === "string" ? failure(scores) : value(scores[k]!)),
    );
  });
  return values;
}

export const judgeList = rewardTerm({
  name: "judge_list",
  summary:
    "A judge reads all responses of a group at once and scores each; with `judge: { of: policy }` the policy is its own referee.",
  formula: "r_i = (s_i − low) / (high − low)",
  sources: ["URPO: A Unified Reward & Policy Optimization Framework for Large Language Models"],
  judges: "answer",
  range: (options) => rangeOf({ ...options, pattern: "" }),
  params,
  create: (options) => {
    const ask = tellerOf(options.judge);
    return { score: (batch, context) => scored(batch, context, options, ask) };
  },
});
