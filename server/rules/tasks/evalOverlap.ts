import { resolve } from "node:path";
import { datasetLabel } from "../../lib/datasets/name.ts";
import { perObject } from "../../lib/perObject.ts";
import { datasetOf } from "../../core/datasetLines.ts";
import type { StageBody, TaskConfig } from "../../core/config/resolved.ts";
import type { ConfigModel, StageView } from "../../config/check/model.ts";
import { eachStage, isOwn, placeOf, reportAt, type Rule } from "../rule.ts";
import type { Choice } from "../../core/declaration.ts";

const fileOf = ({ source }: TaskConfig): string | undefined => datasetOf(source);

/** What the id of a line's task is made of, and with it the side of the split that the line falls on. */
const sidesOf = perObject(({ params }: TaskConfig["source"]): string =>
  JSON.stringify([
    params["prompt"],
    params["answer"] ?? null,
    params["max_prompt"] ?? null,
    params["overlong"],
  ]),
);

/** Evaluation asks nothing that has been trained on. */
export const evalOverlap: Rule = {
  id: "eval-overlap",
  title: "Evaluation on tasks that were trained on",
  why: "A fifth of all tasks, chosen by a hash of prompt and answer, is held out from training. The hash is of the text: a file read with two templates is split in two different ways, so one entry trains on lines that the other holds out. And an auxiliary loss or a replay reads its file whole, held-out lines included. pass@k then measures memorisation.\n\nGive all entries of a file the same templates, or keep the files apart.",
  check: eachStage((view, model) => {
    overlappingTasks(model, view);
    if (view.config.kind === "rl") overlappingFiles(model, view);
  }),
};

/** Of a file's entries the first, and the first that has other templates. */
interface Readers {
  readonly first: TaskEntry;
  other: TaskEntry | undefined;
}
interface TaskEntry {
  readonly task: TaskConfig;
  readonly index: number;
}

/** By file: a list may have thousands of entries, and each is held against all others of its file. */
const readersOf = perObject((measured: readonly TaskConfig[]): ReadonlyMap<string, Readers> => {
  const readers = new Map<string, Readers>();
  for (const [index, task] of measured.entries()) {
    const file = fileOf(task);
    if (file === undefined) continue;
    const known = readers.get(file);
    const entry = { task, index };
    if (known === undefined) readers.set(file, { first: entry, other: undefined });
    else if (sidesOf(known.first.task.source) !== sidesOf(task.source)) known.other ??= entry;
  }
  return readers;
});

const indexByName = perObject(
  (measured: readonly TaskConfig[]): ReadonlyMap<string, number> =>
    new Map(measured.map(({ name }, index) => [name, index] as const).reverse()),
);

function overlappingTasks(model: ConfigModel, view: StageView): void {
  const measured = model.config.top.tasks;
  for (const [index, task] of view.config.body.tasks.entries()) {
    const file = fileOf(task);
    const readers = file === undefined ? undefined : readersOf(measured).get(file);
    const apart = readers && sidesOf(readers.first.task.source) !== sidesOf(task.source);
    const other = apart === true ? readers?.first : readers?.other;
    const path = ["tasks", String(index)];
    if (file === undefined || other === undefined || !isOwn(placeOf(view.body, ...path))) continue;
    // Of two entries of one list the later one is reported.
    const own = indexByName(measured).get(task.name) ?? -1;
    if (placeOf(view.body, "tasks")?.stage === undefined && own < other.index) continue;
    const inTop = placeOf(model.root, "tasks", String(other.index));
    reportAt(model, view, evalOverlap, [[...path, "prompt"], path], {
      severity: "warning",
      message: `\`${task.name}\` reads \`${datasetLabel(file)}\` with other templates than \`${other.task.name}\`, so the two hold out different lines, and each trains on lines that evaluate the other: use the same templates.`,
      related: [{ at: inTop, message: `\`${other.task.name}\` reads the same file` }],
    });
  }
}

/** Files that are trained on from the first line to the last. */
const wholeFiles = ({
  auxiliary,
  replay,
}: StageBody): { choice: Choice<"auxiliary"> | Choice<"replay">; path: string[] }[] => [
  ...auxiliary.map(({ loss }, index) => ({ choice: loss, path: ["auxiliary", String(index), "path"] })),
  { choice: replay.source, path: ["replay", "path"] },
];

function overlappingFiles(model: ConfigModel, view: StageView): void {
  for (const { choice, path } of wholeFiles(view.config.body)) {
    const { path: written } = choice.params;
    if (typeof written !== "string") continue;
    const file = resolve(choice.folder, written);
    const index = model.config.top.tasks.findIndex((task) => fileOf(task) === file);
    const task = model.config.top.tasks[index];
    if (task === undefined || !isOwn(placeOf(view.body, ...path))) continue;
    reportAt(model, view, evalOverlap, [path], {
      severity: "warning",
      message: `\`${datasetLabel(file)}\` is read whole here, including the lines that \`${task.name}\` holds out for evaluation: keep demonstrations in a file of their own.`,
      related: [{ at: placeOf(model.root, "tasks", String(index)), message: "evaluated from the same file" }],
    });
  }
}
