/** Rollouts as a reward model reads them that compares each with its task's reference. */
import type { Policy } from "../../../core/policy.ts";
import type { Batch } from "../../../core/rollouts.ts";
import { readAfter, readingTokens, referenceOf } from "../../../core/rows/reading.ts";
import { askedOf } from "./readings.ts";

interface Read {
  readonly batch: Batch;
  /** Row → why it is read after its own prompt instead. */
  readonly problems: ReadonlyMap<number, string>;
}

export function besideReference(batch: Batch, { tokenizer, context: room }: Policy, template: string): Read {
  const problems = new Map<number, string>();
  const contexts = batch.records.map(({ task }, row): ArrayLike<number> => {
    const reference = referenceOf(task);
    if (reference === undefined) {
      problems.set(row, `task ${task.id} has no reference: set \`answer\` or \`solution\` on its dataset`);
      return askedOf(batch, row);
    }
    const tokens = readingTokens(tokenizer, template, { prompt: task.prompt, reference });
    const length = tokens.length + batch.offsets[row + 1]! - batch.offsets[row]!;
    if (length <= room) return tokens;
    problems.set(
      row,
      `reference and response are ${length} tokens, more than the model's context of ${room}`,
    );
    return askedOf(batch, row);
  });
  return { batch: readAfter(batch, contexts), problems };
}
