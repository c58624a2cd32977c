import { z } from "zod";
import { param, rewardTerm } from "../../../core/declaration.ts";
import { refers } from "../../../core/references.ts";
import type { TermValue } from "../../../core/slots/reward.ts";
import { atLeast, numbersOf, ofTerm } from "../said.ts";
import { scoreBy } from "./lesson.ts";

const bounds = z.tuple([z.number(), z.number()]);

const params = z.object({
  of: ofTerm,
  at_least: atLeast,
  model: param(
    refers({ to: "model" }).min(1),
    "The model that rewrites wrong solutions with few edits, a name in `models`: a token that it would keep is likely.",
  ),
  middle: param(z.number().min(0).max(1).default(0.5), "The probability at which a token's reward is 0."),
  correct: param(bounds.default([0, 0.5]), "Bounds on the rewards of a correct response's tokens."),
  wrong: param(bounds.default([-0.1, 0]), "Bounds on the rewards of a wrong response's tokens."),
});

export const tokenRewriter = rewardTerm({
  name: "token_rewriter",
  summary:
    "Rewards each token by how likely a model that rewrites with few edits finds it: on correct responses what it would keep, on wrong ones, below 0, what it would change.",
  formula: "r_t = clip(p(y_t) − ½, 0, ½) on correct responses, clip(p(y_t) − ½, −0.1, 0) on wrong ones",
  sources: [
    "Improving Large Language Models via Fine-grained Reinforcement Learning with Minimum Editing Constraint",
  ],
  judges: "answer",
  reads: ({ of }) => [of],
  params,
  create: ({ of, at_least, model, middle, correct, wrong }) => ({
    score: async (batch, context) => {
      const read = numbersOf(context, of);
      const { logp } = await scoreBy(context.models, model, batch, ["logp"]);
      return read.map((said, row): TermValue => {
        if (typeof said !== "number") return said;
        const [low, high] = said >= at_least ? correct : wrong;
        const values: number[] = [];
        for (let t = batch.offsets[row]!; t < batch.offsets[row + 1]!; t++)
          values.push(batch.mask[t] === 1 ? Math.min(high, Math.max(low, Math.exp(logp![t]!) - middle)) : 0);
        return values.length === 0 ? { kind: "none" } : { kind: "values", level: "token", values };
      });
    },
  }),
});
