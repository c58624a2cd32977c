import { z } from "zod";
import { param, rewardTerm } from "../../../core/declaration.ts";
import { readerOf, type Models } from "../../../core/policy.ts";
import { refers } from "../../../core/references.ts";
import { referenceOf } from "../../../core/rows/reading.ts";
import { spansOf } from "../../../core/rows/spans.ts";
import type { Batch } from "../../../core/rollouts.ts";
import type { TermValue } from "../../../core/slots/reward.ts";
import { distance } from "../../../lib/algebra/linear.ts";
import { failure, none } from "../perRow.ts";
import { askedOf, textUpTo } from "./readings.ts";

const params = z.object({
  model: param(
    refers({ to: "model", also: ["reference", "policy"] })
      .min(1)
      .default("reference"),
    "The model whose hidden states are φ: `reference`, `policy`, or a name in `models`.",
  ),
});

/** Texts of a row: its prompt, then up to the end of each step; and the prompt with the reference. */
interface Path {
  readonly row: number;
  readonly states: readonly Int32Array[];
  readonly goal: Int32Array;
}

function pathsOf(batch: Batch, encode: (text: string) => Int32Array, room: number): Path[] {
  const { ends, rows } = spansOf(batch, "step");
  const byRow = new Map<number, number[]>();
  rows.forEach((row, k) => byRow.set(row, [...(byRow.get(row) ?? []), ends[k]!]));
  return batch.records.flatMap(({ task }, row): Path[] => {
    const reference = referenceOf(task);
    const asked = [...askedOf(batch, row)];
    if (reference === undefined || asked.length === 0) return [];
    const steps = (byRow.get(row) ?? []).map((end) => textUpTo(batch, row, room, end));
    const goal = Int32Array.from([...asked, ...encode(reference)]).subarray(0, room);
    return [{ row, states: [Int32Array.from(asked), ...steps], goal }];
  });
}

async function embedded(
  texts: readonly Int32Array[],
  models: Models,
  model: string,
): Promise<readonly Float32Array[]> {
  const reader = readerOf(models, model);
  return texts.length === 0 ? [] : reader.embed(texts, "last", model);
}

export const stateProgress = rewardTerm({
  name: "state_progress",
  summary:
    "Rewards each step by how much nearer it brings the text to its goal, the prompt with the task's written solution or answer: by the distance of a model's final hidden states. `rollout.steps` says what ends a step.",
  formula: "r_k = ‖φ(s_{k−1}) − φ(g)‖ − ‖φ(s_k) − φ(g)‖",
  sources: ["Foundation Policies with Hilbert Representations"],
  status: "approximate",
  judges: "answer",
  params,
  create: ({ model }) => ({
    async score(batch, { models }) {
      const { tokenizer, context } = models.get("policy");
      // What is read has room for one token more, which a text that fills the context has not.
      const paths = pathsOf(batch, (text) => tokenizer.encode(text), context - 1);
      const vectors = await embedded(
        paths.flatMap(({ states, goal }) => [goal, ...states]),
        models,
        model,
      );
      const results = batch.records.map(({ task }): TermValue =>
        referenceOf(task) === undefined
          ? failure(
              `state_progress needs a goal, and task ${task.id} has none: set \`answer\` or \`solution\``,
            )
          : none,
      );
      let at = 0;
      for (const { row, states } of paths) {
        const goal = vectors[at]!;
        const far = vectors.slice(at + 1, at + 1 + states.length).map((one) => distance(one, goal));
        at += 1 + states.length;
        const values = far.slice(1).map((after, k) => far[k]! - after);
        results[row] = values.every(Number.isFinite)
          ? values.length === 0
            ? none
            : { kind: "values", level: "step", values }
          : failure(`a hidden state of ${model} is not finite`);
      }
      return results;
    },
  }),
});
