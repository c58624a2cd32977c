/** The names that a config gives to things, read off a tree that may be half-written and off the one last resolved. */
import { expandedMetrics } from "../../../shared/metrics/metrics.ts";
import { teacherContext, teacherContextNames, teacherContextOf } from "../../core/blocks/teacherContext.ts";
import { chosenOf, longForm, nameOf } from "../../config/check/method.ts";
import { child, textOf, toJson, type SourceNode } from "../../config/text/node.ts";
import { environmentOf } from "../../rules/tasks/environments.ts";
import { methodOf } from "../../methods/index.ts";
import { rowsOf, type FileRows } from "./rows.ts";

export interface Names {
  readonly terms: readonly string[];
  readonly tasks: readonly string[];
  readonly stages: readonly string[];
  readonly snapshots: readonly string[];
  readonly models: readonly string[];
  readonly heads: readonly string[];
  readonly arms: readonly string[];
  readonly auxiliaries: readonly string[];
  /** What entries of `kl` show their models. */
  readonly shown: readonly string[];
  /** The k of each pass@k. */
  readonly passAt: readonly number[];
}

type Tree = SourceNode | undefined;

/** `folder`: where the paths of the document's own values start. */
export function namesIn(own: Tree, merged: Tree, folder: string): Names {
  const trees = [own, merged].flatMap((root) => [root, ...itemsOf(child(root, "stages"))]);
  const each = (find: (tree: Tree) => readonly string[]): string[] =>
    [...new Set(trees.flatMap(find))].filter((name) => !/[\uE000]/.test(name));
  const difficulty = [own, merged].flatMap((root) => textOf(child(child(root, "curriculum"), "arms")) ?? []);
  return {
    terms: each((tree) => keysOf(child(child(tree, "reward"), "terms"))),
    tasks: each((tree) => itemsOf(child(tree, "tasks")).flatMap((task) => nameOf(task, "task") ?? [])),
    stages: each((tree) => itemsOf(child(tree, "stages")).flatMap((stage) => nameOf(stage, "stage") ?? [])),
    snapshots: each((tree) => [textOf(child(child(tree, "on_enter"), "snapshot")) ?? []].flat()),
    models: each((tree) => keysOf(child(tree, "models"))),
    heads: each((tree) => [child(tree, "model"), ...valuesOf(child(tree, "models"))].flatMap(headsOf)),
    arms: each((tree) =>
      itemsOf(child(tree, "tasks")).flatMap((task) => armsOf(task, folder, difficulty.includes("none"))),
    ),
    auxiliaries: each((tree) => itemsOf(child(tree, "auxiliary")).flatMap((item) => usedBy(item) ?? [])),
    shown: each((tree) => shownBy(itemsOf(child(tree, "kl")))),
    passAt: trees.flatMap((tree) =>
      itemsOf(child(child(tree, "evaluation"), "pass_at")).flatMap((item) =>
        item.kind === "scalar" && typeof item.value === "number" ? item.value : [],
      ),
    ),
  };
}

export const itemsOf = (node: Tree): readonly SourceNode[] => (node?.kind === "list" ? node.items : []);
const keysOf = (node: Tree): readonly string[] => (node?.kind === "map" ? [...node.entries.keys()] : []);
const valuesOf = (node: Tree): SourceNode[] =>
  node?.kind === "map" ? [...node.entries.values()].map(({ value }) => value) : [];
const usedBy = (node: SourceNode): string | undefined => textOf(node) ?? textOf(child(node, "use"));

const headsOf = (model: Tree): string[] =>
  itemsOf(child(model, "value_heads")).flatMap((head) => textOf(head) ?? textOf(child(head, "name")) ?? []);

function shownBy(entries: readonly SourceNode[]): string[] {
  const contexts = entries.map((item) => {
    const written = child(item, "shown");
    const read = teacherContext.safeParse(written === undefined ? undefined : toJson(written));
    return { shown: read.success ? teacherContextOf(read.data) : undefined };
  });
  return teacherContextNames(contexts).filter((name) => name !== undefined);
}

/** The file that a task's lines lie in, if it is one of a dataset. */
export function datasetOf(task: Tree, folder: string): FileRows | undefined {
  const dataset = textOf(child(task, "dataset"));
  return dataset === undefined
    ? undefined
    : rowsOf(dataset, task?.origin.folder === "" ? folder : (task?.origin.folder ?? folder));
}

/** The arms that a task makes where arms are difficulties: an environment is asked, a dataset's first lines are read. */
function armsOf(task: SourceNode, folder: string, undivided: boolean): string[] {
  const name = nameOf(task, "task");
  if (name === undefined) return [];
  if (undivided) return [name];
  const field = textOf(child(task, "difficulty"));
  const rows = datasetOf(task, folder);
  if (rows !== undefined)
    return field === undefined ? [name] : rows.values(field).map((value) => `${name}/${value}`);
  const values = difficulties(task);
  return values.length === 0 ? [name] : values.map((value) => `${name}/${value}`);
}

function difficulties(task: SourceNode): readonly string[] {
  const long = longForm(task, "task");
  const chosen = long.kind === "map" ? chosenOf(long, "task") : undefined;
  const declaration = chosen === undefined ? undefined : methodOf("task", chosen.method);
  if (declaration === undefined || declaration.name === "dataset") return [];
  const written = toJson(long);
  const params = declaration.params.safeParse(written);
  if (!params.success) return [];
  const environment = environmentOf({
    source: { use: declaration.name, declaration, params: params.data, folder: "" },
  });
  return environment.kind === "made" ? environment.values : [];
}

const phases = ["generate", "reward", "score", "update", "evaluate", "log", "total"];

/** Every metric that a run of these names can report. */
export function metricsOf(names: Names): { name: string; summary: string }[] {
  const ks = names.passAt.length === 0 ? [1, 8] : [...new Set(names.passAt)];
  return expandedMetrics({
    "<term>": names.terms,
    "<model>": ["reference", ...names.models],
    "<arm>": names.arms,
    "<phase>": phases,
    "<part>": ["policy", "replay", ...names.auxiliaries],
    "<auxiliary>": names.auxiliaries,
    "@k": ks.map((k) => `@${k}`),
  });
}
