import { datasetLabel } from "../../lib/datasets/name.ts";
import { isTable } from "../../lib/datasets/tables.ts";
import {
  siblingFields,
  hasField,
  hasNoLines,
  linesOfTask,
  type DatasetLine,
} from "../../core/datasetLines.ts";
import { changed, type Origin } from "../../config/text/node.ts";
import { replace, unknownName } from "../../config/check/report.ts";
import type { TaskConfig } from "../../core/config/resolved.ts";
import type { ConfigModel, StageView } from "../../config/check/model.ts";
import { at as nodeAt, firstTime, placeOf, reportAt, type Rule } from "../rule.ts";

const templates = ["prompt", "begin", "answer", "solution", "chosen", "rejected"];

/** Every line of a dataset has the fields that the templates name. */
export const datasetField: Rule = {
  id: "dataset-field",
  title: "Field that the dataset's lines do not have",
  why: "A template reads fields of a line: `{question}`, or `{meta.level}` for a nested field. A run reads the whole file before it begins, and refuses to start if a line is not a JSON object or lacks a field that a template or `difficulty` names. A field's name without braces is plain text, the same for every task. This rule reads the first lines (up to 100 in the first 64 KiB), or the columns of a Parquet or Arrow file; of data in several files the first.",
  check(model) {
    const fresh = firstTime();
    for (const view of model.stages)
      for (const [index, task] of view.config.body.tasks.entries())
        if (fresh(task.source)) checkTask(model, view, task, index);
  },
};

function checkTask(model: ConfigModel, view: StageView, task: TaskConfig, index: number): void {
  const { params } = task.source;
  const { dataset } = params;
  const lines = linesOfTask(task.source);
  if (lines === undefined || typeof dataset !== "string") return;
  const path = ["tasks", String(index)];
  if (hasNoLines(dataset)) {
    reportAt(model, view, datasetField, [[...path, "dataset"], path], {
      message: `\`${datasetLabel(dataset)}\` is empty: a dataset has one JSON object per line.`,
    });
    return;
  }
  const broken = lines.find(({ row }) => row === undefined);
  if (broken !== undefined) {
    const shown = `\`${datasetLabel(broken.file)}\``;
    reportAt(model, view, datasetField, [[...path, "dataset"], path], {
      message: isTable(broken.file)
        ? `${shown} is not ${/\.arrow$/i.test(broken.file) ? "an Arrow" : "a Parquet"} file, or is incomplete.`
        : `Line ${broken.line + 1} of ${shown} is not a JSON object: a dataset has one per line.`,
      related: isTable(broken.file) ? [] : [{ at: lineOrigin(view, broken), message: "this line" }],
    });
    return;
  }
  for (const key of templates) {
    const template = params[key];
    if (typeof template !== "string") continue;
    for (const [, field] of template.matchAll(/\{([\w.-]+)\}/g))
      checkField(model, view, { lines, path: [...path, key], field: field ?? "", braces: true });
    checkBraces(model, view, { lines, path: [...path, key], template });
  }
  const { difficulty } = params;
  if (typeof difficulty === "string")
    checkField(model, view, {
      lines,
      path: [...path, "difficulty"],
      field: difficulty,
      braces: false,
    });
}

/** A field's name alone is not its value: every line would have the name itself. */
function checkBraces(
  model: ConfigModel,
  view: StageView,
  { lines, path, template }: Pick<FieldReference, "lines" | "path"> & { readonly template: string },
): void {
  const field = template.trim();
  const isField = lines.some(({ row }) => row !== undefined && Object.hasOwn(row, field));
  const at = placeOf(view.body, ...path);
  if (!isField || at === undefined) return;
  const meant = `"{${field}}"`;
  reportAt(model, view, datasetField, [path], {
    severity: "warning",
    message: `Without braces \`${field}\` is plain text, the same for every line. The lines have a field of that name: did you mean \`${meant}\`?`,
    fixes: [replace(at.range, meant, `Change to \`${meant}\``)],
  });
}

interface FieldReference {
  readonly lines: readonly DatasetLine[];
  readonly path: readonly string[];
  readonly field: string;
  readonly braces: boolean;
}

function checkField(
  model: ConfigModel,
  view: StageView,
  { lines, path, field, braces }: FieldReference,
): void {
  const lacking = lines.find(({ row }) => row !== undefined && !hasField(row, field));
  if (lacking?.row === undefined) return;
  const node = nodeAt(view.body, ...path);
  const quoted = braces ? `{${field}}` : field;
  const at = node?.origin;
  const { hint, fixes } =
    at === undefined ? { hint: "", fixes: [] } : unknownName(field, siblingFields(lacking.row, field), at);
  const better = fixes[0]?.edits[0]?.newText;
  const written = node?.kind === "scalar" && typeof node.value === "string" ? node.value : undefined;
  const whole =
    better === undefined ? undefined : written?.replaceAll(quoted, braces ? `{${better}}` : better);
  const shown = `\`${datasetLabel(lacking.file)}\``;
  reportAt(model, view, datasetField, [path, path.slice(0, 2)], {
    message: isTable(lacking.file)
      ? `${shown} has no column \`${field}\`. ${hint}`.trim()
      : `Line ${lacking.line + 1} of ${shown} has no field \`${field}\`. ${hint}`.trim(),
    related: isTable(lacking.file) ? [] : [{ at: lineOrigin(view, lacking), message: `has no \`${field}\`` }],
    fixes:
      at === undefined || whole === undefined || at.layer !== "file"
        ? []
        : [replace(at.range, JSON.stringify(whole), `Change \`${field}\` to \`${better}\``)],
  });
}

const lineOrigin = ({ body }: StageView, { file, line, length }: DatasetLine): Origin =>
  changed(body.origin, {
    file,
    layer: "file",
    range: { start: { line, character: 0 }, end: { line, character: length } },
  });
