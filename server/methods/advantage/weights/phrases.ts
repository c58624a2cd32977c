import { z } from "zod";
import { tokenWeight, param } from "../../../core/declaration.ts";
import { TokenReader, tokensOf } from "../../../core/rows/tokenTexts.ts";

export const phrases = tokenWeight({
  name: "phrases",
  aliases: ["hicra"],
  summary:
    "Tokens of listed phrases, such as those that plan (“let me check”, “on the other hand”), count more where the advantage is positive and less where it is negative.",
  formula: "A'_t = A_t + α |A_t| on the phrases, i.e. w_t = 1 + α sign(A_t)",
  sources: ["Emergent Hierarchical Reasoning in LLMs through Reinforcement Learning"],
  params: z.object({
    list: param(z.array(z.string().min(1)).min(1), "The phrases."),
    alpha: param(z.number().min(0).max(1).default(0.2), "α"),
    ignore_case: param(z.boolean().default(true), "Whether case is ignored."),
  }),
  create: ({ list, alpha, ignore_case }, { tokenizer }) => {
    const reader = new TokenReader(tokenizer, "advantage.token_weights: phrases");
    const folded = (text: string): string => (ignore_case ? text.toLowerCase() : text);
    const wanted = list.map(folded);
    return (batch, _stats, advantages) => {
      const weights = new Float64Array(batch.mask.length).fill(1);
      for (let row = 0; row < batch.rows; row++) {
        // Where no phrase can be, the tokens' texts are not needed.
        const text = folded(batch.records[row]!.response);
        if (!wanted.some((phrase) => text.includes(phrase))) continue;
        const read = reader.row(batch, row);
        const characters = folded(read.text);
        for (const phrase of wanted)
          for (let at = characters.indexOf(phrase); at >= 0; at = characters.indexOf(phrase, at + 1)) {
            const [from, to] = tokensOf(read, at, at + phrase.length);
            for (let t = from; t < to; t++) {
              const token = batch.offsets[row]! + t;
              weights[token] = 1 + alpha * Math.sign(advantages[token]!);
            }
          }
      }
      return weights;
    };
  },
});
