/** One step of an `sft` stage: written solutions, loss on the response, mean over all tokens of the batch. */
import { UserError } from "../../../shared/lib/errors.ts";
import type { Task } from "../../core/task.ts";
import type { Batch } from "../../core/rollouts.ts";
import type { Tokenizer, Weigh } from "../../core/policy.ts";
import { batchOfTexts, textRecord } from "../../core/rows/textRows.ts";
import { asked, type Asking } from "../step/generate/prompts.ts";

/** loss = −Σ mask·log π / Σ mask. */
export const likelihood: Weigh = (now, batch) => {
  const logp = now.logp ?? new Float64Array(batch.tokens.length);
  const trained = batch.mask.reduce((sum, one) => sum + one, 0);
  const slope = Float64Array.from(batch.mask, (one) => (one === 0 ? 0 : -1 / trained));
  return {
    loss: slope.reduce((sum, factor, t) => (factor === 0 ? sum : sum + factor * logp[t]!), 0),
    gradients: { logp: slope },
  };
};

const solutionOf = (task: Task): string => {
  if (task.solution !== undefined) return task.solution;
  throw new UserError(`task ${task.id} has no written solution to learn from`, {
    code: "solution-missing",
    action:
      "An `sft` stage needs `solution` (or `answer`) in every task of its sources; limit its `tasks` to those, or remove the stage.",
  });
};

/** Tasks and their solutions, each ended by the end token, as a batch that trains on every response token. */
export function solved(
  tasks: readonly Task[],
  tokenizer: Tokenizer,
  asking: Asking = { chat: "auto" },
): Batch {
  return batchOfTexts(
    tasks.map((task, row) => {
      const response = solutionOf(task);
      const { tokens, prefix = [] } = asked(tokenizer, task, asking);
      return {
        context: [...tokens, ...prefix],
        tokens: [...tokenizer.encode(response), tokenizer.eos],
        record: textRecord(task, row, response),
      };
    }),
  );
}
