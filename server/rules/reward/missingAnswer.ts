import { hasField, linesOfTask } from "../../core/datasetLines.ts";
import { perObject } from "../../lib/perObject.ts";
import type { RewardTermConfig, TaskConfig } from "../../core/config/resolved.ts";
import { environmentOf } from "../tasks/environments.ts";
import { appliesTo } from "../ranges.ts";
import { eachRlStage, isOwn, placeOf, reportAt, type Rule } from "../rule.ts";

type TaskNeed = "answer" | "equation";
const words: Readonly<Record<TaskNeed, string>> = {
  answer: "an answer",
  equation: "`numbers` and a `target`",
};

/** What a reward reads of its tasks, by its name. */
const reads: ReadonlyMap<string, TaskNeed> = new Map([
  ["exact_match", "answer"],
  ["numeric", "answer"],
  ["reference_probability", "answer"],
  ["equation", "equation"],
]);

type TaskSourceConfig = TaskConfig["source"];

/** What tasks of a source have not. */
const lackOf = perObject((source: TaskSourceConfig): ReadonlySet<TaskNeed> => {
  const found = new Set<TaskNeed>();
  if (!hasAnswer(source)) found.add("answer");
  if (!hasFields(source, ["numbers", "target"])) found.add("equation");
  return found;
});

/** What a reward reads of a task that this one has not; undefined: nothing. */
function lacks({ term }: RewardTermConfig, { source }: TaskConfig): string | undefined {
  const wanted = reads.get(term.declaration.name);
  return wanted !== undefined && lackOf(source).has(wanted) ? words[wanted] : undefined;
}

function hasAnswer(source: TaskSourceConfig): boolean {
  const { declaration, params } = source;
  // A file that is not there is the first thing to fix.
  if (declaration.name === "dataset")
    return params["answer"] !== undefined || linesOfTask(source) === undefined;
  const environment = environmentOf({ source });
  return environment.kind !== "made" || environment.answers;
}

function hasFields(source: TaskSourceConfig, fields: readonly string[]): boolean {
  if (source.declaration.name === "dataset")
    return (
      linesOfTask(source)?.every(
        ({ row }) => row === undefined || fields.every((field) => hasField(row, field)),
      ) ?? true
    );
  const environment = environmentOf({ source });
  return environment.kind !== "made" || fields.every((field) => environment.fields.includes(field));
}

/** A term reads what its tasks have. */
export const missingAnswer: Rule = {
  id: "missing-answer",
  title: "Reward that reads what its tasks do not have",
  why: "`exact_match`, `numeric` and `reference_probability` read the task's answer: a dataset has one if `answer` is set, `countdown` has none. `equation` reads `numbers` and `target` of the task. If they are missing, the term fails on every rollout: the rollout gets no reward, not 0, and does not train.\n\nSet `answer` on the dataset, choose another reward, or restrict the term to the tasks it is for (`tasks: [name]`).",
  check: eachRlStage((view, model) => {
    const { tasks, reward } = view.config.body;
    if (tasks.every(({ source }) => lackOf(source).size === 0)) return;
    for (const term of reward.terms) {
      // The same for each of its tasks.
      let shared: ReturnType<typeof restricted> | undefined;
      for (const [index, task] of tasks.entries()) {
        const what = appliesTo(term, task.name) ? lacks(term, task) : undefined;
        if (what === undefined || !isOwn(placeOf(view.body, "reward", "terms", term.name))) continue;
        const paths = [
          ["reward", "terms", term.name, "use"],
          ["reward", "terms", term.name],
        ];
        reportAt(model, view, missingAnswer, paths, {
          severity: "warning",
          message: `\`${term.term.declaration.name}\` needs ${what}, but the tasks of \`${task.name}\` have none, so it fails on every rollout of them and none trains.`,
          related: [{ at: placeOf(view.body, "tasks", String(index)), message: `does not have ${what}` }],
          fileFixes: [(shared ??= restricted(model, view, term)).fix],
        });
      }
    }
  }),
};

/** The term only for the tasks that have what it reads. */
function restricted(
  { edits, stages }: Parameters<Rule["check"]>[0],
  { config }: Parameters<Rule["check"]>[0]["stages"][number],
  term: RewardTermConfig,
): { readonly fix: ReturnType<typeof edits.set> } {
  const fit = config.body.tasks.filter(
    (task) => appliesTo(term, task.name) && lacks(term, task) === undefined,
  );
  if (fit.length === 0 || stages.length > 1) return { fix: undefined };
  const names = `[${fit.map(({ name }) => name).join(", ")}]`;
  const path = ["reward", "terms", term.name, "tasks"];
  return { fix: edits.set(path, names, `Only for ${names}: \`tasks: ${names}\``) };
}
