/** One step of an `sft` stage: written solutions, loss on the response, mean over all tokens of the batch. */
import { UserError } from "../../../shared/lib/errors.ts";
import type { Task } from "../../core/task.ts";
import { type Batch, type RolloutRecord, origin } from "../../core/rollouts.ts";
import type { Tokenizer, Weigh } from "../../core/policy.ts";
import { raggedOf as ragged } from "../../core/rows/batch.ts";
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

const recordOf = (task: Task, index: number, response: string): RolloutRecord => ({
  task,
  arm: task.source,
  group: String(index),
  index: 0,
  prompt: task.prompt,
  response,
  finish: "stop",
  source: "dataset",
  use: "train",
});

/** Tasks and their solutions, each ended by the end token, as a batch that trains on every response token. */
export function solved(
  tasks: readonly Task[],
  tokenizer: Tokenizer,
  asking: Asking = { chat: "auto" },
): Batch {
  const responses = tasks.map(solutionOf);
  const questions = tasks.map((task) => asked(tokenizer, task, asking));
  const { offsets, values: tokens } = ragged(
    responses.map((text) => [...tokenizer.encode(text), tokenizer.eos]),
  );
  return {
    rows: tasks.length,
    offsets,
    tokens,
    columns: {},
    origin: new Uint8Array(tokens.length).fill(origin.written),
    mask: new Uint8Array(tokens.length).fill(1),
    context: ragged(questions.map(({ tokens, prefix }) => [...tokens, ...(prefix ?? [])])),
    group: Int32Array.from(tasks, (_, row) => row),
    groups: tasks.length,
    records: tasks.map((task, row) => recordOf(task, row, responses[row]!)),
  };
}
