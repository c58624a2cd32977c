import { z } from "zod";
import { param, rewardTerm } from "../../../core/declaration.ts";
import { TokenReader, tokensOf, type TokenTexts } from "../../../core/rows/tokenTexts.ts";
import type { TermValue } from "../../../core/slots/reward.ts";
import { none, value } from "../perRow.ts";

const params = z.object({
  list: param(
    z.array(z.string().min(1)).min(1).default(["wait", "alternatively", "however", "hmm"]),
    "Words or phrases at which the policy thinks again.",
  ),
  ignore_case: param(z.boolean().default(true), "Whether case is ignored."),
});

const isLetter = (character: string | undefined): boolean =>
  character !== undefined && /[\p{L}\p{N}_]/u.test(character);

/** The first token of each place where a phrase stands by itself. */
export function phraseStarts(read: TokenTexts, phrases: readonly string[], ignoreCase: boolean): number[] {
  const text = ignoreCase ? read.text.toLowerCase() : read.text;
  const found = new Set<number>();
  for (const phrase of phrases.map((one) => (ignoreCase ? one.toLowerCase() : one)))
    for (let at = text.indexOf(phrase); at >= 0; at = text.indexOf(phrase, at + 1)) {
      const end = at + phrase.length;
      const inside =
        (isLetter(phrase[0]) && isLetter(text[at - 1])) || (isLetter(phrase.at(-1)) && isLetter(text[end]));
      const [from, to] = tokensOf(read, at, end);
      if (!inside && from < to) found.add(from);
    }
  return [...found];
}

export const phraseEntropy = rewardTerm({
  name: "phrase_entropy",
  summary:
    "The policy's mean entropy where it wrote the first token of listed phrases, such as “wait”: a number to watch, and to keep a checkpoint by. Give it `weight: 0`. It does not apply to a response without such a phrase.",
  formula: "r = mean of H(π(·|y_<t)) over the first tokens t of the phrases",
  sources: ["Skywork-R1V3 Technical Report"],
  judges: "form",
  computes: () => true,
  params,
  create: ({ list, ignore_case }) => ({
    score: (batch, { tokenizer }) => {
      const reader = new TokenReader(tokenizer, "phrase_entropy");
      const { entropy } = batch.columns;
      return Promise.resolve(
        batch.records.map((_, row): TermValue => {
          if (entropy === undefined) return none;
          const found = phraseStarts(reader.row(batch, row), list, ignore_case)
            .map((t) => entropy[batch.offsets[row]! + t]!)
            .filter(Number.isFinite);
          return found.length === 0 ? none : value(found.reduce((sum, one) => sum + one, 0) / found.length);
        }),
      );
    },
  }),
});
