import { asMap, withItems, type NamedItem } from "../config/text/listEdits.ts";
import { chosenOf, longForm, nameOf } from "../config/check/method.ts";
import { textOf, toJson, type ListNode, type MapNode, type SourceNode } from "../config/text/node.ts";
import { listed } from "../lib/suggest.ts";
import type { ConfigModel, StageView } from "../config/check/model.ts";
import { at as nodeAt, isOwn, type Rule } from "./rule.ts";
import type { Fix } from "../config/check/diagnostic.ts";

type ListPath = readonly string[];
type Lost = { readonly name: string; readonly node: SourceNode };

/** Lists whose items have no names, each with the key that says what an item is. */
const unnamed: readonly { readonly path: ListPath; readonly key: string }[] = [
  { path: ["kl"], key: "model" },
  { path: ["mask"], key: "use" },
  { path: ["auxiliary"], key: "use" },
  { path: ["route"], key: "to" },
  { path: ["advantage", "token_weights"], key: "use" },
  { path: ["objective", "correction"], key: "use" },
  { path: ["objective", "also"], key: "use" },
];

const fromPreset = ({ origin }: SourceNode): boolean => origin.layer === "preset";

const listAt = (root: MapNode | undefined, path: ListPath): ListNode | undefined => {
  const found = nodeAt(root, ...path);
  return found?.kind === "list" && found.items.length > 0 ? found : undefined;
};

const taskOf = (node: SourceNode): SourceNode => longForm(node, "task");
const isMade = (node: SourceNode): boolean => nodeAt(node, "generate") !== undefined;

/** Tasks that are made of others carry a preset's method; those it draws from are an example. */
function lostTasks(before: ListNode, now: ListNode): Lost[] {
  const kept = new Set(now.items.map((item) => nameOf(item, "task")));
  return before.items.flatMap((node): Lost[] => {
    const name = nameOf(node, "task");
    return !fromPreset(node) || !isMade(node) || name === undefined || kept.has(name) ? [] : [{ name, node }];
  });
}

/** Keys of a stage that say no more than which and how long it is. */
const outward: readonly string[] = ["name", "kind", "steps"];
const says = (node: SourceNode | undefined): string[] =>
  node?.kind === "map" ? [...node.entries.keys()].filter((key) => !outward.includes(key)) : [];

/** Stages that are gone, or that have lost all that made them differ from the others. */
function lostStages(before: ListNode, now: ListNode): Lost[] {
  return before.items.flatMap((node): Lost[] => {
    const name = nameOf(node, "stage");
    const other = now.items.find((item) => nameOf(item, "stage") === name);
    const gone = says(node).filter((key) => nodeAt(other, key) === undefined);
    const lost = other === undefined || gone.length > 0;
    return fromPreset(node) && name !== undefined && lost ? [{ name, node }] : [];
  });
}

const kindOf = (node: SourceNode, key: string): string | undefined =>
  textOf(node) ?? textOf(nodeAt(node, key)) ?? (key === "model" ? "reference" : undefined);

function lostKinds(before: ListNode, now: ListNode, key: string): Lost[] {
  const kept = new Set(now.items.map((item) => kindOf(item, key)));
  return before.items.flatMap((node): Lost[] => {
    const name = kindOf(node, key);
    return !fromPreset(node) || name === undefined || kept.has(name) ? [] : [{ name, node }];
  });
}

/** Keys of the task below that would show through the one that is written over it. */
function shining(below: SourceNode | undefined, over: SourceNode): string[] {
  const [old, own] = [below && taskOf(below), taskOf(over)];
  if (old?.kind !== "map" || own.kind !== "map") return [];
  const choosing = new Set(["name", "use", chosenOf(old, "task")?.key]);
  return [...old.entries.keys()].filter((key) => !choosing.has(key) && !own.entries.has(key));
}

function named(list: ListNode, what: "task" | "stage", before: ListNode): NamedItem[] | undefined {
  const found = new Map<string, NamedItem>();
  for (const node of list.items) {
    const name = nameOf(node, what);
    if (name === undefined || !/^[A-Za-z_][\w.-]*$/.test(name) || found.has(name)) return undefined;
    const below = before.items.find((item) => nameOf(item, what) === name);
    if (what === "stage" && below === undefined) return undefined;
    found.set(name, { name, node, without: what === "task" ? shining(below, node) : [] });
  }
  return [...found.values()];
}

/** The preset's tasks that the map has to take out: those that it draws from, where the person names others. */
function goneTasks(before: ListNode, items: readonly NamedItem[]): string[] {
  return before.items.flatMap((node) => {
    const name = nameOf(node, "task");
    return name === undefined || isMade(node) || items.some((item) => item.name === name) ? [] : [name];
  });
}

function mapFix(
  { edits }: ConfigModel,
  what: "task" | "stage",
  before: ListNode,
  path: ListPath,
): (Fix | undefined)[] {
  return [
    edits.rewriteList(
      path,
      (list, lines, flow) => {
        const items = named(list, what, before);
        if (items === undefined) return undefined;
        return asMap(list, items, what === "task" ? goneTasks(before, items) : [], lines, flow);
      },
      what === "task"
        ? "Write a map: the preset's other tasks stay"
        : "Write a map: the preset's stages stay, with these changes",
    ),
  ];
}

const names = (lost: readonly Lost[]): string =>
  listed(lost.map(({ name }) => name)).replace(/ or /, " and ");

const isOwnList = (list: ListNode | undefined): list is ListNode =>
  list !== undefined && isOwn(list.origin) && list.origin.via.length === 0;

/** The map that keeps what the list loses, with the names of this very config. */
function remedyFor(what: "task" | "stage", before: ListNode, now: ListNode): string {
  const [old, own] = [before, now].map(({ items }) => nameOf(items[0]!, what));
  if (what === "stage")
    return `\`stages: { ${old ?? "NAME"}: { steps: 10 } }\` changes one stage and keeps the rest`;
  return old === own
    ? `\`tasks: { ${own ?? "NAME"}: { … } }\` changes one task and keeps the rest`
    : `\`tasks: { ${own ?? "NAME"}: { … }, ${old ?? "NAME"}: null }\` replaces \`${old ?? "NAME"}\` with your task and keeps the rest`;
}

function checkNamed(model: ConfigModel, what: "task" | "stage"): void {
  const path = what === "task" ? ["tasks"] : ["stages"];
  const [before, now] = [listAt(model.inherited, path), listAt(model.root, path)];
  if (before === undefined || !isOwnList(now)) return;
  const lost = (what === "task" ? lostTasks : lostStages)(before, now);
  if (lost.length === 0) return;
  model.report({
    rule: replacedList.id,
    severity: "warning",
    message: `This list replaces the preset's, and ${names(lost)}, which ${lost.length === 1 ? "carries" : "carry"} its method, ${lost.length === 1 ? "is" : "are"} lost. Write a map to keep ${lost.length === 1 ? "it" : "them"}: ${remedyFor(what, before, now)}.`,
    key: path.join("."),
    at: now.origin,
    related: [{ at: before.origin, message: "the preset's list" }],
    fileFixes: mapFix(model, what, before, path),
  });
}

/** A stage's own list replaces the tasks that all stages have, or those that the preset gives this stage. */
function checkStage(model: ConfigModel, { config, written }: StageView): void {
  const now = listAt(asMapNode(written), ["tasks"]);
  if (config.kind !== "rl" || !isOwnList(now)) return;
  const stages = listAt(model.inherited, ["stages"])?.items ?? [];
  const inherited = stages.find((item) => nameOf(item, "stage") === config.name);
  const before = listAt(asMapNode(inherited), ["tasks"]) ?? listAt(model.root, ["tasks"]);
  const lost = before === undefined ? [] : lostTasks(before, now);
  if (before === undefined || lost.length === 0) return;
  const elsewhere = model.stages.some(
    ({ config: { kind, name, body } }) =>
      kind === "rl" &&
      name !== config.name &&
      lost.every((one) => body.tasks.some((task) => task.name === one.name)),
  );
  const [is, it] = lost.length === 1 ? ["is", "it"] : ["are", "them"];
  model.report({
    rule: replacedList.id,
    severity: elsewhere ? "info" : "warning",
    message: `In the stage \`${config.name}\` this list replaces the preset's, and ${names(lost)}, which ${lost.length === 1 ? "carries" : "carry"} its method, ${is} lost${elsewhere ? " there" : ""}. Write a map to keep ${it}: ${remedyFor("task", before, now)}.`,
    key: `stages.${config.name}.tasks`,
    at: now.origin,
    related: [{ at: before.origin, message: "the preset's list" }],
    fileFixes: mapFix(model, "task", before, ["stages", config.name, "tasks"]),
  });
}

const asMapNode = (node: SourceNode | undefined): MapNode | undefined =>
  node?.kind === "map" ? node : undefined;

function checkUnnamed(model: ConfigModel, path: ListPath, key: string): void {
  const [before, now] = [listAt(model.inherited, path), listAt(model.root, path)];
  if (before === undefined || !isOwnList(now)) return;
  const lost = lostKinds(before, now, key);
  if (lost.length === 0) return;
  const items = lost.map(({ node }) => JSON.stringify(toJson(node)).replaceAll(/"(\w+)":/g, "$1: "));
  model.report({
    rule: replacedList.id,
    severity: "info",
    message: `This list replaces the preset's, and ${names(lost)} ${lost.length === 1 ? "is" : "are"} lost. To keep ${lost.length === 1 ? "it" : "them"}, write ${lost.length === 1 ? "it" : "them"} into this list as well.`,
    key: path.join("."),
    at: now.origin,
    related: [{ at: before.origin, message: "the preset's list" }],
    fileFixes: [
      model.edits.rewriteList(
        path,
        (list, lines, flow) => withItems(list, items, lines, flow),
        `Add the preset's ${names(lost)}`,
      ),
    ],
  });
}

/** Of several presets a later one's list replaces an earlier one's. */
function checkMixed(model: ConfigModel): void {
  for (const { below, over, at } of model.mixed ?? [])
    for (const [path, lostOf] of [[["tasks"], lostTasks] as const, [["stages"], lostStages] as const]) {
      const [before, now, final] = [below, over, model.root].map((root) => listAt(root, path));
      // A list of the file's own replaces both, and is reported itself.
      if (before === undefined || now === undefined || final === undefined || isOwn(final.origin)) continue;
      const lost = lostOf(before, lostFrom(now, final));
      if (lost.length === 0) continue;
      model.report({
        rule: replacedList.id,
        severity: "warning",
        message: `This preset's list \`${path.join(".")}\` replaces the list of the one before it: ${names(lost)} ${lost.length === 1 ? "is" : "are"} lost. To have both, write one list with the entries of both into this file.`,
        key: "extends",
        at,
      });
    }
}

/** What either list has: an entry that the file itself writes again is not lost. */
const lostFrom = (now: ListNode, final: ListNode): ListNode => ({
  ...now,
  items: [...now.items, ...final.items],
});

export const replacedList: Rule = {
  id: "replaced-list",
  title: "List that removes a preset's method",
  why: "Maps are merged, lists are replaced: your own list removes the preset's list entirely. If that list carries the preset's method, as a task made from others or as the stages of a recipe, the run trains without the method.\n\nWrite a map instead of the list. Its keys are names of the preset's entries: `countdown: null` removes one, `short: { steps: 10 }` changes one, and entries that the map does not name stay. A task with a new name and a source of its own (`sums: { dataset: sums.jsonl }`) is added. A stage's own `tasks` are such a list too. Lists whose entries have no names, such as `kl` or `auxiliary`, must be written whole.",
  check(model) {
    checkNamed(model, "task");
    checkNamed(model, "stage");
    for (const view of model.stages) checkStage(model, view);
    for (const { path, key } of unnamed) checkUnnamed(model, path, key);
    checkMixed(model);
  },
};
