/** Scores that a judge writes, on a scale. */
import { z } from "zod";
import { param } from "../../../core/declaration.ts";
import { isPattern } from "../../../lib/textSpans.ts";
import { TextPattern } from "../../../lib/texts/textPattern.ts";
import type { Told } from "./teller.ts";

export const scoreParams = {
  pattern: param(
    z
      .string()
      .refine(isPattern, { message: "must be a regular expression" })
      .default("score\\W*(-?\\d+(?:\\.\\d+)?)"),
    "Regular expression of the score in what the judge says, in any case: the last match, its first group.",
  ),
  low: param(
    z.number().default(0),
    "Least score of the scale. One outside of it is an error, not a bad score.",
  ),
  high: param(z.number().default(10), "Greatest score of the scale."),
  to_unit: param(
    z.boolean().default(true),
    "Whether the scale becomes 0 to 1; else the score is the reward.",
  ),
};
const scale = z.object(scoreParams);
export type Scale = z.output<typeof scale>;

export const rangeOf = ({ low, high, to_unit }: Scale): readonly [number, number] =>
  to_unit ? [0, 1] : [low, high];

export const onScale = (score: number, { low, high, to_unit }: Scale): number =>
  to_unit ? (score - low) / (high - low) : score;

/** The reward that the judge's words mean; a text: why they mean none. */
export function scoreIn(told: Told, scale: Scale): number | string {
  if ("error" in told) return told.error;
  const last = new TextPattern(scale.pattern, "i").all(told.text).at(-1);
  const score = Number.parseFloat(last?.[1] ?? last?.[0] ?? "");
  if (!Number.isFinite(score))
    return `the judge gave no score that \`pattern\` finds: ${JSON.stringify(told.text.slice(-80))}`;
  if (score < scale.low || score > scale.high)
    return `the judge's score ${score} is not from ${scale.low} to ${scale.high}`;
  return onScale(score, scale);
}

const merges = {
  mean: (scores: readonly number[]): number => scores.reduce((sum, one) => sum + one, 0) / scores.length,
  median: (scores: readonly number[]): number => {
    const sorted = [...scores].sort((a, b) => a - b);
    const middle = sorted.length >> 1;
    return sorted.length % 2 === 1 ? sorted[middle]! : (sorted[middle - 1]! + sorted[middle]!) / 2;
  },
  least: (scores: readonly number[]): number => Math.min(...scores),
} as const;
export const merge = param(
  z.enum(["mean", "median", "least"]).default("mean"),
  "How the scores of several judges become one.",
);
export type Merge = z.output<typeof merge>;

/** Of several judges; a text where one of them gave no score. */
export function merged(scores: readonly (number | string)[], by: Merge): number | string {
  const numbers = scores.filter((score) => typeof score === "number");
  return numbers.length === scores.length
    ? merges[by](numbers)
    : scores.find((one) => typeof one === "string")!;
}
