/** The arguments of a Python reward function: what each of its parameters is given of a rollout, by convention. */
import { tagged } from "../../../../lib/texts/tagged.ts";
import { UserError } from "../../../../../shared/lib/errors.ts";
import type { Json, JsonObject } from "../../../../../shared/lib/json.ts";
import type { ScoreInput } from "../wire.ts";
import { inputNames, type Convention, type TakenParameter } from "./convention.ts";
import { isMessages, isObject, rubricValues, traceOf } from "./verifiers.ts";

/** The function as it was loaded, with what the config says of it. */
export interface Bound {
  readonly convention: Convention;
  readonly parameters: readonly TakenParameter[];
  readonly args: JsonObject;
  /** Whether completions are lists of messages; undefined: as the task's data has its prompt. */
  readonly messages: boolean | undefined;
  readonly asynchronous: boolean;
}

type Keywords = Readonly<Record<string, Json | undefined>>;

/** One call for all rows: a list a name, what all share, and what the host makes. */
export interface BatchCall {
  readonly columns: Readonly<Record<string, readonly (Json | undefined)[]>>;
  readonly shared: Keywords;
  readonly made: Readonly<Record<string, Json>>;
}

const takes = ({ parameters }: Bound, name: string): boolean =>
  parameters.some((one) => one.name === name || one.kind === "var_keyword");

/** What a task's reference answer is; data that is no text is handed over as the trainer would. */
function truthOf({ task }: ScoreInput): Json | undefined {
  const model = task.data["reward_model"];
  const own = (isObject(model) ? model["ground_truth"] : undefined) ?? task.data["ground_truth"];
  return own !== undefined && typeof own !== "string" ? own : (task.answer ?? own);
}

/** reasoning-gym takes the answer out of the response's last `<answer>`. */
const lastAnswer = (response: string): string => tagged(response, ["answer"]).at(-1)?.trim() ?? response;

const values: Readonly<Record<string, (input: ScoreInput) => Json | undefined>> = {
  solution: ({ response }) => response,
  ground_truth: truthOf,
  data_source: ({ task }) => task.data["data_source"] ?? task.source,
  extra_info: ({ task }) => task.data["extra_info"] ?? {},
  queries: ({ prompt, response }) => prompt + response,
  answer: ({ response }) => lastAnswer(response),
  entry: ({ task }) => ({
    question: task.data["question"] ?? task.prompt,
    answer: task.answer ?? task.data["answer"] ?? null,
    metadata: task.data["metadata"] ?? task.data,
  }),
  trace: traceOf,
};

/** What a role is given: the same word is not the same thing in each convention. */
function valuesOf({ convention, messages }: Bound): typeof values {
  return convention.name === "rubric" || convention.name === "rubric_group"
    ? rubricValues(messages !== false)
    : values;
}

/** Under the name that the function has for a role; where it takes any name, under the documented one. */
function nameOf(bound: Bound, names: readonly string[]): string | undefined {
  const own = names.find((name) => bound.parameters.some((one) => one.name === name));
  return own ?? (bound.parameters.some(({ kind }) => kind === "var_keyword") ? names[0] : undefined);
}

const taken = <Value>(bound: Bound, some: Readonly<Record<string, Value>>): Readonly<Record<string, Value>> =>
  Object.fromEntries(Object.entries(some).filter(([name]) => takes(bound, name)));

/** The keywords of one rollout's call. */
export function keywordsOf(bound: Bound, input: ScoreInput): Keywords {
  const keywords: Record<string, Json | undefined> = { ...taken(bound, bound.args) };
  const own = valuesOf(bound);
  for (const [role, names] of Object.entries(bound.convention.roles)) {
    const name = nameOf(bound, names);
    if (name !== undefined) keywords[name] = own[role]?.(input) ?? null;
  }
  if (bound.convention.columns === true)
    for (const [name, value] of Object.entries(input.task.data))
      if (takes(bound, name) && !(name in keywords)) keywords[name] = value;
  if (bound.convention.name !== "gradus") return keywords;
  const given: Readonly<Record<string, unknown>> = { ...input };
  for (const name of inputNames) if (takes(bound, name)) keywords[name] = plainJson(given[name]);
  return keywords;
}

/** Rows of a batch are plain data already. */
const plainJson = (value: unknown): Json | undefined => value as Json | undefined;

/** Columns that TRL hands over by other names. */
const notColumns: ReadonlySet<string> = new Set(["prompt", "completion", "completion_ids"]);
/** Parameters that are given the reference answer where the data has no such field. */
export const truths: ReadonlySet<string> = new Set([
  "answer",
  "solution",
  "ground_truth",
  "target",
  "label",
  "labels",
]);

/**
 * The one call of a batch, or why there is none.
 * @param tokens of the response of an input; undefined: they were not recorded
 * @throws UserError where the function takes tokens that were not recorded
 */
export function batchCall(
  bound: Bound,
  inputs: readonly ScoreInput[],
  tokens: (at: number) => readonly number[] | undefined,
): BatchCall | string {
  const { convention } = bound;
  const columns: Record<string, readonly (Json | undefined)[]> = {};
  for (const [role, names] of Object.entries(convention.roles)) {
    const name = nameOf(bound, names);
    const value = valuesOf(bound)[role] ?? (convention.name === "trl" ? undefined : plainOf[role]);
    if (name !== undefined && value !== undefined) columns[name] = inputs.map((one) => value(one) ?? null);
  }
  if (convention.name !== "trl") return { columns, shared: taken(bound, bound.args), made: {} };
  const missing = addColumns(bound, inputs, columns);
  if (missing !== undefined) return missing;
  addConversations(bound, inputs, columns);
  addTokens(bound, inputs, columns, tokens);
  const made: Readonly<Record<string, Json>> = {
    trainer_state: { global_step: inputs[0]?.step ?? 0 },
    log_extra: "log_extra",
    log_metric: "log_metric",
  };
  return { columns, shared: taken(bound, bound.args), made: taken(bound, made) };
}

const plainOf: Readonly<Record<string, (input: ScoreInput) => Json>> = { prompts: ({ prompt }) => prompt };

/** The task's fields that the function takes. */
function addColumns(
  bound: Bound,
  inputs: readonly ScoreInput[],
  columns: Record<string, readonly (Json | undefined)[]>,
): string | undefined {
  const fields = new Set(inputs.flatMap(({ task }) => Object.keys(task.data)));
  for (const name of fields)
    if (takes(bound, name) && !notColumns.has(name) && !(name in bound.args))
      columns[name] = inputs.map(({ task }) => task.data[name] ?? null);
  const given = new Set([...Object.values(bound.convention.roles).flat(), ...Object.keys(bound.args)]);
  for (const { name, kind, optional } of bound.parameters) {
    if (kind.startsWith("var_") || given.has(name) || name in columns) continue;
    if (truths.has(name) && inputs.some(({ task }) => task.answer !== undefined))
      columns[name] = inputs.map(({ task }) => task.answer ?? null);
    else if (!optional)
      return `takes \`${name}\`, which is no field of the task's data (${[...fields].join(", ") || "it has none"}) and not set under \`args\`${inputs.every(({ task }) => task.env === "trl") ? unlogged(name) : ""}`;
  }
  return undefined;
}

/** TRL's dumps have no columns of the data but those that a reward logs. */
const unlogged = (name: string): string =>
  `: log it with \`log_extra("${name}", ${name})\` in the reward, or keep the data that the run was trained on where the config names them`;

/** From an empty list a reward would compute nonsense; one that takes any name may not look at them. */
function addTokens(
  bound: Bound,
  inputs: readonly ScoreInput[],
  columns: Record<string, readonly (Json | undefined)[]>,
  tokens: (at: number) => readonly number[] | undefined,
): void {
  if (!takes(bound, "completion_ids")) return;
  const ids = inputs.flatMap((_, at) => {
    const own = tokens(at);
    return own === undefined ? [] : [own];
  });
  if (ids.length === inputs.length) columns["completion_ids"] = ids;
  else if (bound.parameters.some(({ name }) => name === "completion_ids"))
    throw new UserError("it takes `completion_ids`, which were not recorded", {
      code: "rescore-tokens",
      action: "Score such a term in a run.",
    });
}

function addConversations(
  bound: Bound,
  inputs: readonly ScoreInput[],
  columns: Record<string, readonly (Json | undefined)[]>,
): void {
  const talks = inputs.map(({ task }) => bound.messages ?? isMessages(task.data["prompt"]));
  if (takes(bound, "completions"))
    columns["completions"] = inputs.map(({ response }, row) =>
      talks[row] === true ? [{ role: "assistant", content: response }] : response,
    );
  if (takes(bound, "prompts"))
    columns["prompts"] = inputs.map(({ prompt, task }, row) => {
      const written = task.data["prompt"];
      if (talks[row] !== true) return prompt;
      return isMessages(written) ? written : [{ role: "user", content: prompt }];
    });
}
