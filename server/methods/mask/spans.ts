import { z } from "zod";
import { UserError } from "../../../shared/lib/errors.ts";
import { mask, param } from "../../core/declaration.ts";
import { isPattern, matchesIn } from "../../lib/textSpans.ts";
import { TextPattern } from "../../lib/texts/textPattern.ts";
import { TokenReader, tokensOf } from "../../core/rows/tokenTexts.ts";
import { bySpans, type TokenRange } from "./rows.ts";

export const spans = mask({
  name: "spans",
  summary:
    "Trains inside or outside spans that you define: spans that rollouts record under a name, or matches of a regular expression in the response (its first group, if it has one).",
  sources: [],
  params: z
    .object({
      name: param(z.string().min(1).optional(), "A name in the rollout's `spans`."),
      regex: param(z.string().min(1).optional(), "A regular expression over the response, as in JavaScript."),
      flags: param(
        z
          .string()
          .regex(/^[imsu]*$/)
          .default(""),
        "Flags of the expression: i, m, s, u.",
      ),
      keep: param(
        z.enum(["inside", "outside"]).default("inside"),
        "Whether the inside or the outside trains.",
      ),
      missing: param(
        z.enum(["keep", "drop", "error"]).default("keep"),
        "What happens to a rollout without such a span.",
      ),
    })
    .refine(({ name, regex }) => (name === undefined) !== (regex === undefined), {
      message: "needs either `name` (recorded spans) or `regex`",
    })
    .refine(({ regex }) => regex === undefined || isPattern(regex), {
      path: ["regex"],
      message: "must be a regular expression as in JavaScript, without slashes",
    }),
  create: ({ name, regex, flags, keep, missing }, { tokenizer }) => {
    const pattern = regex === undefined ? undefined : new TextPattern(regex, flags);
    const reader = new TokenReader(tokenizer, "mask spans");
    return bySpans((batch, row) => {
      const record = batch.records[row]!;
      const found = pattern === undefined ? record.spans?.[name!] : inText(reader, batch, row, pattern);
      if (found !== undefined && found.length > 0) return found;
      if (missing === "error")
        throw new UserError(
          `rollout ${record.index} of group "${record.group}" has no span ${name ?? `/${regex}/`}`,
          { code: "mask-span-missing", action: "Record it, or set the mask's `missing` to keep or drop." },
        );
      return missing === "keep" ? undefined : keep === "inside" ? [] : [[0, Number.MAX_SAFE_INTEGER]];
    }, keep);
  },
});

function inText(
  reader: TokenReader,
  batch: Parameters<TokenReader["row"]>[0],
  row: number,
  pattern: TextPattern,
): TokenRange[] {
  const texts = reader.row(batch, row);
  return matchesIn(texts.text, pattern).map(([from, to]) => tokensOf(texts, from, to));
}
