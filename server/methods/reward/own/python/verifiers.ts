/**
 * What rewards of verifiers are given of a rollout: since 0.4 a trace, which the host makes an object of, and before it
 * the values that a rubric's functions name.
 */
import type { Json, JsonObject } from "../../../../../shared/lib/json.ts";
import type { ScoreInput } from "../wire.ts";

export const isObject = (value: unknown): value is JsonObject =>
  typeof value === "object" && value !== null && !Array.isArray(value);

export const isMessages = (value: Json | undefined): value is readonly Json[] =>
  Array.isArray(value) && value.every((one) => isObject(one) && "role" in one && "content" in one);

const promptOf = ({ prompt, task }: ScoreInput): readonly Json[] => {
  const written = task.data["prompt"];
  return isMessages(written) ? written : [{ role: "user", content: prompt }];
};

/** Of a conversation its turns; what no assistant said was not sampled. */
const answerOf = ({ response, turns }: ScoreInput): readonly JsonObject[] =>
  turns === undefined
    ? [{ role: "assistant", content: response }]
    : turns.map(({ role, text }) => ({ role, content: text }));

/** The row that the task is made of. */
const rowOf = ({ task }: ScoreInput): JsonObject => ({
  ...(task.answer !== undefined && { answer: task.answer }),
  prompt: task.prompt,
  ...task.data,
});

export const traceOf = (input: ScoreInput): JsonObject => ({
  id: input.task.id,
  data: rowOf(input),
  prompt: promptOf(input),
  answer: answerOf(input),
  truncated: input.finish === "length",
  tokens: input.length,
});

type Values = Readonly<Record<string, (input: ScoreInput) => Json | undefined>>;

/** @param messages whether prompt and completion are lists of messages, as in all chats, or texts */
export function rubricValues(messages: boolean): Values {
  const prompt = (input: ScoreInput): Json => (messages ? promptOf(input) : input.prompt);
  const completion = (input: ScoreInput): Json => (messages ? answerOf(input) : input.response);
  const answer = ({ task }: ScoreInput): Json => task.answer ?? task.data["answer"] ?? "";
  const info = ({ task }: ScoreInput): Json => task.data["info"] ?? {};
  const task = ({ task: { data, source } }: ScoreInput): Json => data["task"] ?? source;
  const state = (input: ScoreInput): Json => ({
    ...input.task.data,
    prompt: prompt(input),
    completion: completion(input),
    answer: answer(input),
    info: info(input),
    task: task(input),
    is_completed: true,
    is_truncated: input.finish === "length",
  });
  return {
    ...{ prompt, completion, answer, info, task, state },
    ...{ prompts_of_group: prompt, completions_of_group: completion },
    ...{ answers: answer, infos: info, tasks: task, states: state },
  };
}
