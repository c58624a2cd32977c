import { z } from "zod";
import { param, rewardTerm } from "../../../core/declaration.ts";
import { perRow, value } from "../perRow.ts";
import { ngramCounts, wordsOf } from "./ngrams.ts";

/** Those of the released code, as it looks for them: in lower case, spaces at the end included. */
const released = [
  ...["i need to", "we need to", "wait", "alternatively", "let me check", "let me see", "let's focus on"],
  ...["we know that", "we can observe ", "we can see ", "let me try", "let's try", "let us try", "first, "],
  ...["firstly, ", "next, ", "finally, ", "let us first", "let's first", "let me first", "try again"],
  ...["still not", "not working", "not correct", "does not work", "doesn't work", "makes sence", "since we "],
  ...["because we ", "consequently", "as a result", "thus", "therefore", "hence", "so that", "thereby"],
  ...["if we", "given there ", "for instance ", "for example "],
];

const params = z.object({
  list: param(z.array(z.string().min(1)).min(1).default(released), "Phrases, looked for in lower case."),
  enough: param(z.number().positive().default(20), "So many different phrases earn the whole reward."),
  n: param(
    z.number().int().min(1).default(20),
    "The share of n-grams, in words, that occur more than once is subtracted.",
  ),
  stray: param(
    z.array(z.string().min(1)).default(["user: "]),
    "Markers of a turn that is not the policy's; each costs 1.",
  ),
});
type Params = z.output<typeof params>;

/** Share of the kinds of n-grams, of all n-grams, that occur more than once. */
function repeatedKinds(text: string, n: number): number {
  const counts = [...ngramCounts(wordsOf(text), n).values()];
  const all = counts.reduce((sum, count) => sum + count, 0);
  return all === 0 ? 0 : counts.filter((count) => count > 1).length / all;
}

/** @param text a response, in any case */
export function phraseScore(text: string, { list, enough, n, stray }: Params): number {
  const lower = text.toLowerCase();
  const found = list.filter((phrase) => lower.includes(phrase)).length;
  const markers = stray.reduce((sum, marker) => sum + lower.split(marker.toLowerCase()).length - 1, 0);
  return Math.max(0, Math.min(1, found / enough) - repeatedKinds(lower, n) - markers);
}

export const phrases = rewardTerm({
  name: "phrases",
  summary: "Rewards the phrases of reasoning that a response has, whatever it answers.",
  formula: "r = max(0, min(1, distinct phrases / enough) − repeated n-grams / n-grams − stray markers)",
  sources: ["The Climb Carves Wisdom Deeper Than the Summit: On the Noisy Rewards in Learning to Reason"],
  judges: "form",
  range: () => [0, 1],
  computes: () => true,
  params,
  create: (options) => perRow(({ response }) => value(phraseScore(response, options))),
});
