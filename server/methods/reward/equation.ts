import { z } from "zod";
import { rewardTerm, param } from "../../core/declaration.ts";
import type { TermValue } from "../../core/slots/reward.ts";
import type { RolloutRecord } from "../../core/rollouts.ts";
import { equals, parseExpression } from "./expression.ts";
import { failure, perRow, value } from "./perRow.ts";

/** From the last tag that is closed to its first end. */
function lastAnswer(response: string): string {
  const open = response.lastIndexOf("<answer>", response.lastIndexOf("</answer>") - "<answer>".length);
  const close = response.indexOf("</answer>", open);
  return open < 0 || close < 0 ? "" : response.slice(open + "<answer>".length, close);
}

const places = {
  all: (response: string) => response,
  last_line: (response: string) => response.trim().split("\n").at(-1) ?? "",
  answer_tag: (response: string) => lastAnswer(response),
} as const;

const sameNumbers = (left: readonly number[], right: readonly number[]): boolean => {
  const sorted = [...right].sort((a, b) => a - b);
  return (
    left.length === right.length && [...left].sort((a, b) => a - b).every((number, i) => number === sorted[i])
  );
};

function judge({ task, response }: RolloutRecord, place: keyof typeof places, partial: number): TermValue {
  const { numbers, target } = task.data;
  if (
    !Array.isArray(numbers) ||
    !numbers.every((number) => typeof number === "number") ||
    typeof target !== "number"
  ) {
    return failure(
      `equation needs "numbers" (a list) and "target" (a number) in the data of task ${task.id}`,
    );
  }
  // A response may end with "= target", and only with that.
  const [left = "", right, ...rest] = places[place](response).split("=");
  if (rest.length > 0 || (right !== undefined && right.trim() !== String(target))) return value(0);
  const parsed = parseExpression(left);
  if (!parsed.ok || !sameNumbers(parsed.numbers, numbers)) return value(0);
  return value(equals(parsed.value, target) ? 1 : partial);
}

export const equation = rewardTerm({
  name: "equation",
  summary:
    "1 for an expression that uses exactly the given numbers, each once, and has exactly the target's value.",
  formula:
    "r = 1 if numbers(expression) = numbers(task) and value = target; partial if only the numbers are right; else 0",
  sources: ["TinyZero"],
  judges: "answer",
  range: ({ partial }) => [Math.min(0, partial), Math.max(1, partial)],
  computes: () => true,
  params: z.object({
    extract: param(
      z.enum(["all", "last_line", "answer_tag"]).default("all"),
      "Where the expression is: the whole response, its last line, or the last <answer> tag.",
    ),
    partial: param(
      z.number().default(0),
      "Reward of a valid expression over the right numbers with another value; TinyZero: 0.1.",
    ),
  }),
  create: ({ extract, partial }) => perRow((record) => judge(record, extract, partial)),
});
