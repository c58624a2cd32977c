import { z } from "zod";
import { param, rewardTerm } from "../../../core/declaration.ts";
import { refers } from "../../../core/references.ts";
import { fieldOf } from "../../../core/templates.ts";
import { failure, perRow, value } from "../perRow.ts";

const params = z.object({
  field: param(
    refers({ to: "field" }).default("scores"),
    "Field of the task's data with the right scores of its candidates: a list of numbers, the better the greater.",
  ),
  unreadable: param(
    z.number().default(-1),
    "Reward of a response without a list of as many scores, `[8, 3, 5]`.",
  ),
});

/** The numbers of the last list in brackets; undefined: there is none. */
export function numbersIn(text: string): number[] | undefined {
  const last = [...text.matchAll(/\[([^[\]]*)\]/g)].at(-1);
  const parts = last?.[1]!.split(/[,;\s]+/).filter((part) => part !== "");
  const numbers = parts?.map(Number);
  return numbers === undefined || numbers.length === 0 || !numbers.every(Number.isFinite)
    ? undefined
    : numbers;
}

/**
 * Kendall's τ-a of two lists of scores over the pairs that the first tells apart: 1 where all are in its order, −1 where none
 * is; a tie of the second counts 0.
 */
export function kendall(gold: readonly number[], said: readonly number[]): number {
  let [sum, pairs] = [0, 0];
  for (let i = 0; i < gold.length; i++)
    for (let j = i + 1; j < gold.length; j++) {
      if (gold[i] === gold[j]) continue;
      pairs += 1;
      sum += Math.sign(gold[i]! - gold[j]!) * Math.sign(said[i]! - said[j]!);
    }
  return pairs === 0 ? 0 : sum / pairs;
}

export const rankAgreement = rewardTerm({
  name: "rank_agreement",
  summary:
    "The policy as a referee: how well the scores that a response gives to a list of candidates agree with the right order.",
  formula: "r = (concordant − discordant) / pairs (Kendall's τ)",
  sources: ["URPO: A Unified Reward & Policy Optimization Framework for Large Language Models"],
  judges: "answer",
  range: ({ unreadable }) => [Math.min(-1, unreadable), Math.max(1, unreadable)],
  computes: () => true,
  params,
  create: ({ field, unreadable }) =>
    perRow(({ task, response }) => {
      const gold = fieldOf(task, field);
      if (!Array.isArray(gold) || !gold.every((one): one is number => typeof one === "number"))
        return failure(`rank_agreement needs a list of numbers in the field \`${field}\` of task ${task.id}`);
      const said = numbersIn(response);
      return value(said?.length === gold.length ? kendall(gold, said) : unreadable);
    }),
});
