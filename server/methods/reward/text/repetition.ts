import { z } from "zod";
import { param, rewardTerm } from "../../../core/declaration.ts";
import type { Batch } from "../../../core/rollouts.ts";
import type { TermValue } from "../../../core/slots/reward.ts";
import { value } from "../perRow.ts";
import { numberedNgrams, wordsOf } from "./ngrams.ts";

const params = z.object({
  n: param(
    z.number().int().min(1).default(40),
    "Length of the runs: tokens, or words with `level: response`.",
  ),
  penalty: param(
    z.number().max(0).default(-0.05),
    "Of each repeated token; with `level: response`, of a response that only repeats itself.",
  ),
  level: param(
    z.enum(["token", "response"]).default("token"),
    "token: every token of a run that stood earlier in the response gets the penalty; response: the penalty times the share of runs that are not the first of their kind.",
  ),
});

/** Places of the items that lie in a run which occurred before. */
export function repeated(items: readonly (string | number)[], n: number): ReadonlySet<number> {
  const seen = new Set<number>();
  const found = new Set<number>();
  numberedNgrams(items, n).forEach((ngram, start) => {
    if (seen.has(ngram)) for (let i = start; i < start + n; i++) found.add(i);
    seen.add(ngram);
  });
  return found;
}

/** 1 − distinct / all; 0 for a text of fewer words than a run. */
export function repeatedShare(words: readonly string[], n: number): number {
  const all = numberedNgrams(words, n);
  return all.length === 0 ? 0 : 1 - new Set(all).size / all.length;
}

/** Never −0. */
const penaltyOf = (share: number, penalty: number): number => (share === 0 ? 0 : share * penalty);

function byToken(batch: Batch, row: number, n: number, penalty: number): TermValue {
  const [start, end] = [batch.offsets[row]!, batch.offsets[row + 1]!];
  const places: number[] = [];
  for (let t = start; t < end; t++) if (batch.mask[t] === 1) places.push(t);
  const found = repeated(
    places.map((t) => batch.tokens[t]!),
    n,
  );
  if (end === start) return value(0);
  const values = new Array<number>(end - start).fill(0);
  for (const i of found) values[places[i]! - start] = penalty;
  return { kind: "values", level: "token", values };
}

export const repetition = rewardTerm({
  name: "repetition",
  summary: "A penalty on tokens of n-grams that the response has had before.",
  formula:
    "token: r_t = penalty where t lies in an n-gram that occurred before · response: penalty · (1 − distinct / all n-grams)",
  sources: ["Demystifying Long Chain-of-Thought Reasoning in LLMs"],
  judges: "form",
  computes: () => true,
  params,
  create: ({ n, penalty, level }) => ({
    score: (batch) =>
      Promise.resolve(
        batch.records.map(({ response }, row) =>
          level === "token"
            ? byToken(batch, row, n, penalty)
            : value(penaltyOf(repeatedShare(wordsOf(response.toLowerCase()), n), penalty)),
        ),
      ),
  }),
});
