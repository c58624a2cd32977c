/** Responses read after another text than their prompt, such as a reference to compare them with. */
import type { Tokenizer } from "../policy.ts";
import type { Batch } from "../rollouts.ts";
import type { Task } from "../task.ts";
import { fill } from "../templates.ts";
import { raggedOf } from "./batch.ts";

/** The reference, then the candidate, each after the prompt: as POLAR's released code writes them. */
export const BESIDE_REFERENCE = "{prompt}\n{reference}<|reward|>{prompt}\n";

/** What an answer to a task is compared with; undefined: the task has nothing. */
export const referenceOf = ({ solution, answer }: Task): string | undefined => solution ?? answer;

export const readingTokens = (
  tokenizer: Tokenizer,
  template: string,
  values: { readonly prompt: string; readonly reference: string },
): number[] => [...(tokenizer.prefix ?? []), ...tokenizer.encode(fill(template, values))];

/** The same rows after other contexts, which are all that anybody reads before them. */
export function readAfter(batch: Batch, contexts: readonly ArrayLike<number>[]): Batch {
  const { contexts: _, trainContext: __, ...rest } = batch;
  return { ...rest, context: raggedOf(contexts) };
}
