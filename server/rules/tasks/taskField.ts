import { basename } from "node:path";
import { helps } from "../../core/config/guidanceFacts.ts";
import { siblingFields, hasField, linesOfTask } from "../../core/datasetLines.ts";
import { unknownName } from "../../config/check/report.ts";
import type { StageBody, TaskConfig } from "../../core/config/resolved.ts";
import type { ConfigModel, StageView } from "../../config/check/model.ts";
import { eachRlStage, placeOf, reportAt, type Rule } from "../rule.ts";

/** Somebody who reads a field of each task's data. */
interface FieldReader {
  readonly path: readonly string[];
  readonly field: string;
  /** Without the field in every task a run cannot go on; else the tasks that have none stay without help. */
  readonly needed: boolean;
}

const textOf = (value: unknown): string[] => (typeof value === "string" ? [value] : []);

function askersOf({ curriculum, guidance }: StageBody): FieldReader[] {
  const { arms, signal, estimator } = curriculum;
  const { params } = guidance.source;
  const fields = Array.isArray(arms.params["fields"]) ? arms.params["fields"] : [];
  const labelled = signal.declaration.name === "label" ? textOf(signal.params["field"]) : [];
  const known = estimator.params["by"] === "field" ? textOf(estimator.params["field"]) : [];
  // A file or a model that gives the help takes the field's place.
  const helped =
    helps(guidance) && params["file"] === undefined && params["model"] === undefined
      ? textOf(params["field"])
      : [];
  return [
    ...fields.flatMap((field, index) =>
      textOf(field).map((one) => asker(["curriculum", "arms", "fields", String(index)], one, true)),
    ),
    ...labelled.map((field) => asker(["curriculum", "signal", "field"], field, true)),
    ...known.map((field) => asker(["curriculum", "estimator", "field"], field, true)),
    ...helped.map((field) => asker(["guidance", "source", "field"], field, false)),
  ];
}

const asker = (path: readonly string[], field: string, needed: boolean): FieldReader => ({
  path,
  field,
  needed,
});

interface MissingField {
  /** What lacks it, as a sentence begins. */
  readonly who: string;
  /** Fields that are there in its stead. */
  readonly others: readonly string[];
}

/** undefined: its lines have the field, or it is unknown until the tasks are made. */
function lackOf({ source }: TaskConfig, field: string): MissingField | undefined {
  const without = linesOfTask(source)?.find(({ row }) => row !== undefined && !hasField(row, field));
  if (without?.row === undefined) return undefined;
  const file = basename(without.file);
  return { who: `Line ${without.line + 1} of \`${file}\``, others: siblingFields(without.row, field) };
}

/** Fields that a curriculum or a source of help reads are there. */
export const taskField: Rule = {
  id: "task-field",
  title: "Field that the dataset's tasks do not have",
  why: "Arms by `fields`, the signal `label`, `estimator: { use: static, by: field }` and sources of help by `field` read the data of each task, which for a dataset is its line. If arms, a signal or an estimator lack their field, the run stops; if help does, the task gets none. This rule reads the first lines of the file.",
  check: eachRlStage((view, model) => {
    for (const one of askersOf(view.config.body)) inspect(model, view, one);
  }),
};

function inspect(model: ConfigModel, view: StageView, { path, field, needed }: FieldReader): void {
  const { tasks } = view.config.body;
  const lacks = tasks.flatMap((task) => lackOf(task, field) ?? []);
  const [first] = lacks;
  if (first === undefined) return;
  const at = placeOf(view.body, ...path);
  const { hint, fixes } = at === undefined ? { hint: "", fixes: [] } : unknownName(field, first.others, at);
  const helpless = lacks.length === tasks.length ? ", so no rollout is helped" : ", so its tasks get no help";
  reportAt(model, view, taskField, [path, path.slice(0, -1), path.slice(0, 2)], {
    severity: needed ? "error" : "warning",
    message: `${first.who} has no field \`${field}\`${needed ? "" : helpless}. ${hint}`.trim(),
    fixes,
  });
}
