/** Prompts to a batch of rollouts: a stream of random numbers for each, whatever else is generated beside it. */
import { UserError } from "../../shared/errors.ts";
import type { Batch, DecodeOptions, Policy, RolloutUse, Sample } from "../seams.ts";
import { assemble, type Draft } from "./assemble.ts";
import { asked, type Asking } from "./prompts.ts";
import type { DrawnTask } from "../algorithm.ts";

/** A task with its group's name, which is unique in the step. */
export interface Place extends DrawnTask {
  readonly group: string;
}

/** Names the groups of a step: the task's id, numbered where a task comes again. */
export function placesOf(drawn: readonly DrawnTask[], taken: Set<string>): Place[] {
  return drawn.map((one) => {
    let group = one.task.id;
    for (let n = 2; taken.has(group); n++) group = `${one.task.id}~${n}`;
    taken.add(group);
    return { ...one, group };
  });
}

/** `count` rollouts of each place. `purpose` keeps the streams of training and evaluation apart. */
export function draftsOf(
  places: readonly Place[],
  count: number,
  policy: Policy,
  key: readonly (string | number)[],
  use: RolloutUse,
  asking: Asking,
): Draft[] {
  return places.flatMap(({ task, arm, group }) => {
    const question = asked(policy.tokenizer, task, asking);
    const length = question.tokens.length + (question.prefix?.length ?? 0);
    if (length >= policy.context) throw tooLong(task.prompt, length, policy.context);
    return Array.from({ length: count }, (_, index) => ({
      task,
      arm,
      group,
      index,
      use,
      source: "self" as const,
      prompt: { ...question, key: [...key, group, index] },
    }));
  });
}

const tooLong = (prompt: string, length: number, context: number): UserError =>
  new UserError(
    `A prompt of ${length} tokens leaves no room in the model's context of ${context}: ${JSON.stringify(prompt.slice(0, 80))}…`,
    {
      code: "prompt-too-long",
      action: "Filter long prompts with the task's `max_prompt`, or choose a model with a longer context.",
    },
  );

/**
 * Writes the drafts' responses.
 * @throws whatever `decode.signal` was aborted with, and what `decode.between` throws
 */
export async function rollOut(
  policy: Policy,
  drafts: readonly Draft[],
  decode: DecodeOptions,
): Promise<Batch> {
  const samples = new Map<number, Sample>();
  const version = policy.version;
  for await (const sample of policy.generate(
    drafts.map((draft) => draft.prompt),
    decode,
  )) {
    samples.set(sample.index, sample);
    decode.signal?.throwIfAborted();
  }
  return assemble(drafts, samples, policy.tokenizer, version);
}
