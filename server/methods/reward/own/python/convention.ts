/**
 * Which convention a Python reward function follows, by the names of its parameters: nothing is run to tell. The table
 * holds what packages ship, which is more than they document: verl's `geo3k` takes `predict_str`, its `math_verify`
 * `model_output`, and TRL's length rewards take `completion_ids` and no `completions`.
 */

export interface TakenParameter {
  readonly name: string;
  readonly kind:
    | "positional_only"
    | "positional_or_keyword"
    | "var_positional"
    | "keyword_only"
    | "var_keyword";
  /** Has a default. */
  readonly optional: boolean;
}

/** What a parameter is given; the names that it has in the convention follow below. */
type Role =
  | "solution"
  | "ground_truth"
  | "data_source"
  | "extra_info"
  | "prompts"
  | "completions"
  | "completion_ids"
  | "trainer_state"
  | "log_extra"
  | "log_metric"
  | "queries"
  | "entry"
  | "answer"
  | "trace"
  | "runtime"
  | "prompt"
  | "completion"
  | "state"
  | "info"
  | "task"
  | "prompts_of_group"
  | "completions_of_group"
  | "answers"
  | "states"
  | "infos"
  | "tasks";

export interface Convention {
  readonly name:
    | "gradus"
    | "verl"
    | "verl_batch"
    | "trl"
    | "openrlhf"
    | "reasoning_gym"
    | "verifiers"
    | "rubric"
    | "rubric_group";
  readonly title: string;
  /** One call for all rollouts of a batch. */
  readonly batched: boolean;
  /** Of these, one call for each group. */
  readonly grouped?: true;
  /** The first name is the documented one. */
  readonly roles: Readonly<Partial<Record<Role, readonly string[]>>>;
  /** Other names that it is given. */
  readonly names?: readonly string[];
  /** Any other name is a field of the task's data. */
  readonly columns?: true;
  readonly is: (has: (...names: string[]) => boolean) => boolean;
}

/** A convention that is not called, and the function to write in its place. */
interface Unsupported {
  readonly title: string;
  /** The call of the function. */
  readonly call: (name: string) => string;
  readonly is: Convention["is"];
}

/** What a function of Gradus' own convention may take: see `ScoreInput`. */
export const inputNames = [
  "prompt",
  "response",
  "task",
  "finish",
  "steps",
  "turns",
  "index",
  "group",
  "length",
  "step",
  "args",
] as const;

export const conventions: readonly Convention[] = [
  {
    name: "verifiers",
    title: "verifiers: `@reward (task, trace, runtime) -> float | dict[str, float]`",
    batched: false,
    roles: { task: ["task"], trace: ["trace"], runtime: ["runtime"] },
    is: (has) => has("trace"),
  },
  {
    // Before TRL's, with which it shares `completions` and `prompts`.
    name: "rubric_group",
    title:
      "a group's function of verifiers' earlier rubrics: `f(prompts, completions, answers, states, tasks, infos) -> list[float]`",
    batched: true,
    grouped: true,
    roles: {
      prompts_of_group: ["prompts"],
      completions_of_group: ["completions"],
      answers: ["answers"],
      states: ["states"],
      infos: ["infos"],
      tasks: ["tasks"],
    },
    // A field of TRL's data may well be called `answers`.
    is: (has) => has("states") || has("infos") || has("answers", "tasks"),
  },
  {
    name: "trl",
    title: "TRL: `f(completions, prompts, completion_ids, <columns>, **kwargs) -> list[float | None]`",
    batched: true,
    roles: {
      completions: ["completions"],
      completion_ids: ["completion_ids"],
      prompts: ["prompts"],
      trainer_state: ["trainer_state"],
      log_extra: ["log_extra"],
      log_metric: ["log_metric"],
    },
    columns: true,
    is: (has) => has("completions") || has("completion_ids"),
  },
  {
    name: "verl_batch",
    title:
      "verl, batched: `compute_score(data_sources, solution_strs, ground_truths, extra_infos) -> list[float | dict]`",
    batched: true,
    roles: {
      data_source: ["data_sources"],
      solution: ["solution_strs"],
      ground_truth: ["ground_truths"],
      extra_info: ["extra_infos"],
    },
    is: (has) => has("solution_strs"),
  },
  {
    name: "verl",
    title:
      "verl: `compute_score(data_source, solution_str, ground_truth, extra_info) -> float | dict(score=…)`",
    batched: false,
    roles: {
      data_source: ["data_source"],
      solution: ["solution_str", "predict_str", "model_output", "solution", "completion"],
      ground_truth: ["ground_truth", "test_cases"],
      extra_info: ["extra_info"],
    },
    is: (has) =>
      ["solution_str", "predict_str", "model_output"].some((name) => has(name)) ||
      has("solution", "ground_truth") ||
      has("completion", "test_cases") ||
      has("completion", "ground_truth"),
  },
  {
    name: "openrlhf",
    title: "OpenRLHF: `reward_func(queries, prompts, labels, **kwargs) -> dict(rewards=…, scores=…)`",
    batched: true,
    roles: { queries: ["queries"], prompts: ["prompts"], ground_truth: ["labels"] },
    is: (has) => has("queries"),
  },
  {
    name: "reasoning_gym",
    title: "reasoning-gym: `score_answer(answer, entry) -> float`",
    batched: false,
    roles: { answer: ["answer"], entry: ["entry"] },
    is: (has) => has("answer", "entry"),
  },
  {
    name: "rubric",
    title:
      "verifiers' earlier rubrics: `f(completion, prompt, answer, state, info, task, **kwargs) -> float`",
    batched: false,
    roles: {
      prompt: ["prompt"],
      completion: ["completion"],
      answer: ["answer"],
      state: ["state"],
      info: ["info"],
      task: ["task"],
    },
    columns: true,
    is: (has) => has("completion") || has("state"),
  },
  {
    name: "gradus",
    title: "Gradus: `compute_score(prompt, response, task, …) -> float | None`",
    batched: false,
    roles: {},
    names: inputNames,
    is: (has) =>
      ["response", "turns", "steps", "length", "finish"].some((name) => has(name)) || has("task", "prompt"),
  },
];

/** A function of Gradus' own convention that calls another. */
const wrapped = (name: string, call: string): string =>
  `def ${name === "compute_score" ? "own_score" : "compute_score"}(prompt, response, task):\n    # Make the objects that it takes.\n    return ${call}`;

/** Before the others: AReaL's names are partly TRL's. */
const unsupported: readonly Unsupported[] = [
  {
    title: "AReaL's `(prompt, completions, prompt_ids, completion_ids, answer)`",
    is: (has) => has("prompt", "completions"),
    call: (name) => `${name}(prompt, response, [], [], answer=task["answer"])`,
  },
  {
    title: "slime's `(args, sample)`",
    is: (has) => has("args", "sample"),
    call: (name) => `${name}(None, Sample(prompt=prompt, response=response, label=task["answer"]))`,
  },
  {
    title: "an rLLM evaluator's `(task, episode)`",
    is: (has) => has("task", "episode"),
    call: (name) => `${name}(task["data"], episode).reward`,
  },
];

export type Recognised =
  | { readonly kind: "convention"; readonly convention: Convention }
  | { readonly kind: "unsupported"; readonly title: string; readonly wrapper: string }
  | { readonly kind: "unknown"; readonly parameters: readonly string[]; readonly wrapper: string };

/** @param name of the function, for the wrapper */
export function recognised(parameters: readonly TakenParameter[], name: string): Recognised {
  const own = new Set(parameters.filter(({ kind }) => !kind.startsWith("var_")).map((one) => one.name));
  const has = (...names: string[]): boolean => names.every((one) => own.has(one));
  const foreign = unsupported.find(({ is }) => is(has));
  if (foreign !== undefined)
    return { kind: "unsupported", title: foreign.title, wrapper: wrapped(name, foreign.call(name)) };
  const convention = conventions.find(({ is }) => is(has));
  if (convention !== undefined) return { kind: "convention", convention };
  const all = [...own].map((one) => `${one}=…`).join(", ");
  return { kind: "unknown", parameters: [...own], wrapper: wrapped(name, `${name}(${all})`) };
}

/** Names that every call is given: not the config's to write. */
export const givenNames = ({ roles, names = [] }: Convention): readonly string[] => [
  ...Object.values(roles).flat(),
  ...names,
];

/** Parameters that nothing provides; those of a dataset's columns are known only with its rows. */
export function unprovided(
  convention: Convention,
  parameters: readonly TakenParameter[],
  args: readonly string[],
): string[] {
  if (convention.columns === true) return [];
  const provided = new Set([...givenNames(convention), ...args]);
  return parameters
    .filter(({ name, kind, optional }) => !optional && !kind.startsWith("var_") && !provided.has(name))
    .map(({ name }) => name);
}

/** Of a function that is called in no known way. */
export const unknownText = (name: string, found: Exclude<Recognised, { kind: "convention" }>): string =>
  found.kind === "unsupported"
    ? `\`${name}\` takes ${found.title}, by which Gradus does not call a reward`
    : `\`${name}\` takes ${listed(found.parameters)}, which is no convention that Gradus calls a Python reward by: its own, verl's, TRL's, OpenRLHF's, reasoning-gym's or verifiers'`;

const listed = (names: readonly string[]): string =>
  names.length === 0 ? "no parameter that has a name" : names.map((name) => `\`${name}\``).join(", ");
