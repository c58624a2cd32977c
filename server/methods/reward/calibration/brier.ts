import { z } from "zod";
import { param, rewardTerm } from "../../../core/declaration.ts";
import type { TermValue } from "../../../core/slots/reward.ts";
import { value } from "../perRow.ts";
import { atLeast, numbersOf, ofTerm } from "../said.ts";
import { confidenceIn } from "./confidence.ts";

const params = z.object({
  of: ofTerm,
  at_least: atLeast,
  tag: param(
    z.string().min(1).default("confidence"),
    "Tag that the response states its confidence in: a probability such as 0.8, or 80%.",
  ),
  score: param(
    z.enum(["with_correctness", "calibration"]).default("with_correctness"),
    "with_correctness: the paper's reward, 1[c] − (q − 1[c])²; calibration: 1 − (q − 1[c])² alone, next to a term that rewards what is correct (the released code).",
  ),
  missing: param(
    z.number().default(-1),
    "Reward of a response without a confidence from 0 to 1. The released code has 0 for it, with `calibration`.",
  ),
});

export const brier = rewardTerm({
  name: "brier",
  summary:
    "Rewards a stated confidence that fits: the Brier score of the probability that the response gives itself of being correct.",
  formula: "with_correctness: r = 1[c] − (q − 1[c])² · calibration: r = 1 − (q − 1[c])²",
  sources: ["Beyond Binary Rewards: Training LMs to Reason About Their Uncertainty"],
  judges: "answer",
  range: ({ score, missing }) => [Math.min(missing, score === "calibration" ? 0 : -1), Math.max(missing, 1)],
  reads: ({ of }) => [of],
  computes: () => true,
  params,
  create: ({ of, at_least, tag, score, missing }) => ({
    score: (batch, context) => {
      const read = numbersOf(context, of);
      const scored = batch.records.map(({ response }, row): TermValue => {
        const said = read[row]!;
        if (typeof said !== "number") return said;
        const confidence = confidenceIn(response, tag);
        if (confidence === undefined) return value(missing);
        const correct = said >= at_least ? 1 : 0;
        const off = (confidence - correct) ** 2;
        return { ...value((score === "calibration" ? 1 : correct) - off), components: { confidence, off } };
      });
      return Promise.resolve(scored);
    },
  }),
});
