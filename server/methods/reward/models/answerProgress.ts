import { z } from "zod";
import { param, rewardTerm } from "../../../core/declaration.ts";
import type { Models } from "../../../core/policy.ts";
import { refers } from "../../../core/references.ts";
import type { Batch } from "../../../core/rollouts.ts";
import type { TermValue } from "../../../core/slots/reward.ts";
import { failure, none } from "../perRow.ts";
import { askedOf, tokenLikelihoods, type TextReading } from "./readings.ts";

const params = z.object({
  model: param(
    refers({ to: "model", also: ["reference", "policy"] })
      .min(1)
      .default("reference"),
    "The model that reads: `reference`, the policy at the start; `policy`; or a name in `models`.",
  ),
  between: param(z.string().default(""), "What is read between the conversation and the answer."),
  epsilon: param(z.number().positive().default(0.1), "ε, the gap that is left where the answer is certain."),
});
type Params = z.output<typeof params>;

/** Places in `turns` of those that the policy wrote. */
const written = (batch: Batch, row: number): number[] =>
  (batch.records[row]!.turns ?? []).flatMap(({ role }, k) => (role === "assistant" ? [k] : []));

/** The answer after the conversation up to each of the policy's turns. */
function readingsOf(
  batch: Batch,
  row: number,
  own: readonly number[],
  tail: readonly number[],
  text: Int32Array,
): TextReading[] {
  const asked = askedOf(batch, row);
  const start = batch.offsets[row]!;
  return own.map((k) => {
    const said = batch.tokens.subarray(start, start + batch.records[row]!.turns![k]!.start);
    return { row, context: [...asked, ...said, ...tail], text };
  });
}

/** Of each state, log(d_0 / d_t); each turn has what it added. */
function changes(answers: readonly Float64Array[], epsilon: number): number[] {
  const gaps = answers.map((logp) => epsilon - logp.reduce((sum, one) => sum + one, 0) / logp.length);
  return gaps.slice(1).map((gap, t) => Math.log(gaps[t]! / gap));
}

async function score(
  batch: Batch,
  models: Models,
  { model, between, epsilon }: Params,
): Promise<TermValue[]> {
  const { tokenizer, context: room } = models.get("policy");
  const tail = [...tokenizer.encode(between)];
  const results: TermValue[] = batch.records.map(() => none);
  const readings: TextReading[] = [];
  batch.records.forEach(({ task }, row) => {
    const own = written(batch, row);
    if (own.length < 2) return;
    const text = tokenizer.encode(task.answer?.trim() ?? "");
    const found = readingsOf(batch, row, own, tail, text);
    const longest = found.at(-1)!.context.length + text.length;
    if (text.length === 0)
      results[row] = failure(
        `answer_progress needs an answer, and task ${task.id} has none: set \`answer\` on its dataset`,
      );
    else if (longest > room)
      results[row] = failure(
        `the conversation and the answer are ${longest} tokens, more than the model's context of ${room}`,
      );
    else readings.push(...found);
  });
  const likelihoods = await tokenLikelihoods(readings, batch, models, model);
  const byRow = new Map<number, Float64Array[]>();
  readings.forEach(({ row }, i) => byRow.set(row, [...(byRow.get(row) ?? []), likelihoods[i]!]));
  for (const [row, answers] of byRow) results[row] = valueOf(batch, row, changes(answers, epsilon));
  return results;
}

/** The last turn of the policy and those of others have none. */
function valueOf(batch: Batch, row: number, gains: readonly number[]): TermValue {
  const own = written(batch, row);
  const values = batch.records[row]!.turns!.map((_, k) => gains[own.indexOf(k)] ?? Number.NaN);
  return gains.every(Number.isFinite)
    ? { kind: "values", level: "turn", values }
    : failure("the model gives the answer a likelihood that is not finite");
}

export const answerProgress = rewardTerm({
  name: "answer_progress",
  summary:
    "Rewards each turn by how much likelier the task's answer is to a frozen model once it has read what the turn led to: by the log of the gap that is left, so that turns add up to what the whole conversation closed. The last turn has none.",
  formula: "d_t = ε − mean_k log π(y*_k | s_t, y*_<k), V_t = log(d_0 / d_t), r_t = V_{t+1} − V_t",
  sources: ["TRACE: Turn-level Reward Assignment via Credit Estimation for Long-Horizon Agents"],
  status: "approximate",
  judges: "answer",
  params,
  create: (options) => ({ whole: true, score: (batch, { models }) => score(batch, models, options) }),
});
