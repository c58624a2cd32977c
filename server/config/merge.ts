/**
 * One tree over another. Maps go deep; lists and scalars replace; null removes; where a slot's method changes, the
 * earlier method's own parameters are dropped and the slot's stay; a parameter written in another of its forms (a judge by
 * its `url` over one by `of`) replaces; a map over a list addresses its items, by name
 * where they have names, else by index.
 */
import { methods } from "../methods/index.ts";
import type { SlotName } from "../core/declaration.ts";
import { chosenOf, longForm, nameOf } from "./check/method.ts";
import {
  isNull,
  join,
  mapNode,
  textOf,
  type ListNode,
  type MapEntry,
  type MapNode,
  type SourceNode,
} from "./text/node.ts";
import { firstPlaces } from "./text/placesIn.ts";
import type { Fields, Shape } from "../core/blocks/field.ts";
import { isSchema, keysOf, kindOf, unwrapped } from "./check/values.ts";

/** An override that addresses nothing. */
export interface MergeProblem {
  readonly message: string;
  readonly entry: MapEntry;
  readonly path: string;
  readonly allowed: readonly string[];
  readonly name: string;
}
type Report = (problem: MergeProblem) => void;

export function merge(
  base: SourceNode | undefined,
  over: SourceNode,
  shape: Shape | undefined,
  report: Report,
  path = "",
): SourceNode {
  if (shape?.kind === "map" && shape.short !== undefined && textOf(over) !== undefined) {
    const long = mapNode(over.origin, [[shape.short, { key: over.origin, value: over }]]);
    return merge(base, long, shape, report, path);
  }
  if (shape?.kind === "slot") return mergeSlot(base, longForm(over, shape.slot), shape, report, path);
  if (base?.kind === "list" && over.kind === "map") {
    if (shape?.kind === "named_list") return mergeNamed(base, over, shape, report, path);
    if ([...over.entries.keys()].every((key) => /^\d+$/.test(key)))
      return mergeIndexed(base, over, shape, report, path);
    return over;
  }
  if (over.kind !== "map") return over;
  const start = base?.kind === "map" ? base : mapNode(over.origin, []);
  return mergeEntries(start, over, shape, report, path);
}

/** A whole config over another one. */
export const mergeBlocks = (
  base: MapNode | undefined,
  over: MapNode,
  shape: Shape & { kind: "map" },
  report: Report,
): MapNode => mergeEntries(base ?? mapNode(over.origin, []), over, shape, report, "");

const shapeOf = (shape: Shape | undefined, key: string): Shape | undefined => {
  if (shape?.kind === "map") return shape.fields[key]?.shape;
  if (shape?.kind === "slot") return shape.own[key]?.shape;
  if (shape?.kind === "named_map") return shape.item;
  return undefined;
};

/** Whether a place of the config may have a key: a null under any other removes nothing, and is a mistake to report. */
function takes(shape: Shape | undefined, key: string): boolean {
  if (shape?.kind === "map") return key in shape.fields;
  if (shape?.kind !== "slot") return true;
  return key in shape.own || key === "use" || key === "env" || paramsOf(shape.slot).all.has(key);
}

/** Later writers keep the key's place in the order of the first, but own its position in the file. */
function mergeEntries(
  base: MapNode,
  over: MapNode,
  shape: Shape | undefined,
  report: Report,
  path: string,
): MapNode {
  const keeps = shape?.kind === "slot" ? nullable(shape.slot) : undefined;
  const entries = new Map(base.entries);
  for (const [key, { key: at, value }] of over.entries) {
    const removes = isNull(value) && keeps?.has(key) !== true;
    if (removes && (base.entries.has(key) || takes(shape, key))) entries.delete(key);
    else
      entries.set(key, {
        key: at,
        value: merge(
          isOtherForm(base, key, value, shape) ? undefined : base.entries.get(key)?.value,
          value,
          shapeOf(shape, key),
          report,
          join(path, key),
        ),
      });
  }
  return { kind: "map", entries, origin: over.origin };
}

/** Whether a parameter that is one of several maps is written as another of them than before. */
function isOtherForm(base: MapNode, key: string, over: SourceNode, shape: Shape | undefined): boolean {
  const before = base.entries.get(key)?.value;
  if (shape?.kind !== "slot" || before?.kind !== "map" || over.kind !== "map") return false;
  const chosen = chosenOf(base, shape.slot)?.method;
  const declared = methods.find(({ slot, name }) => slot === shape.slot && name === chosen)?.params.shape[
    key
  ];
  if (!isSchema(declared)) return false;
  const kind = kindOf(unwrapped(declared));
  if (kind.kind !== "union") return false;
  const forms = kind.options.map(keysOf);
  const taking = ({ entries }: MapNode): readonly Readonly<Record<string, unknown>>[] =>
    forms.filter((form) => [...entries.keys()].every((one) => one in form));
  const now = taking(over);
  return now.length > 0 && !taking(before).some((form) => now.includes(form));
}

function mergeSlot(
  base: SourceNode | undefined,
  over: SourceNode,
  shape: Shape & { kind: "slot" },
  report: Report,
  path: string,
): SourceNode {
  if (over.kind !== "map") return over;
  const before = base === undefined ? undefined : longForm(base, shape.slot);
  if (before?.kind !== "map") return mergeEntries(mapNode(over.origin, []), over, shape, report, path);
  const [old, now] = [chosenOf(before, shape.slot), chosenOf(over, shape.slot)];
  const changed =
    now !== undefined &&
    (old?.method !== now.method ||
      (old.method === "user" || old.method === "python" ? old.text !== now.text : false));
  return mergeEntries(changed ? ownOnly(before, shape.own) : before, over, shape, report, path);
}

interface Params {
  /** Of any of a slot's methods. */
  readonly all: ReadonlySet<string>;
  /** Those for which null is a value of its own (`clip_norm: null`), not a removal. */
  readonly nullable: ReadonlySet<string>;
}
const paramsBySlot = new Map<SlotName, Params>();

function paramsOf(slot: SlotName): Params {
  const known = paramsBySlot.get(slot);
  if (known !== undefined) return known;
  const shapes = methods
    .filter((method) => method.slot === slot)
    .flatMap((method) => Object.entries(method.params.shape));
  const found = {
    all: new Set(shapes.map(([name]) => name)),
    nullable: new Set(shapes.filter(([, schema]) => takesNull(schema)).map(([name]) => name)),
  };
  paramsBySlot.set(slot, found);
  return found;
}

export const nullable = (slot: SlotName): ReadonlySet<string> => paramsOf(slot).nullable;

const takesNull = (schema: unknown): boolean => isSchema(schema) && schema.safeParse(null).success;

const ownOnly = (node: MapNode, own: Fields): MapNode =>
  mapNode(
    node.origin,
    [...node.entries].filter(([key]) => key in own),
  );

function mergeNamed(
  base: ListNode,
  over: MapNode,
  shape: Shape & { kind: "named_list" },
  report: Report,
  path: string,
): ListNode {
  const names = base.items.map((item) => nameOf(item, shape.what));
  const places = firstPlaces(names);
  const items: (SourceNode | undefined)[] = [...base.items];
  for (const [name, entry] of over.entries) {
    let index = places.get(name) ?? -1;
    if (index < 0 && /^\d+$/.test(name) && Number(name) < items.length) index = Number(name);
    const added = index < 0 && shape.what === "task" ? newTask(name, entry) : undefined;
    if (added !== undefined) items.push(added);
    else if (index < 0)
      report({
        message: `there is no ${shape.what} named \`${name}\``,
        entry,
        path: join(path, name),
        allowed: names.filter((known) => known !== undefined),
        name,
      });
    else
      items[index] = isNull(entry.value)
        ? undefined
        : merge(items[index], entry.value, shape.item, report, join(path, name));
  }
  return { ...base, items: items.filter((item) => item !== undefined) };
}

/** An entry that says where its tasks come from needs no task to lie over: it is one of its own. */
function newTask(name: string, { key, value }: MapEntry): MapNode | undefined {
  const task = longForm(value, "task");
  if (task.kind !== "map" || chosenOf(task, "task") === undefined) return undefined;
  const named: MapEntry = { key, value: { kind: "scalar", value: name, origin: key } };
  return task.entries.has("name") ? task : mapNode(task.origin, [["name", named], ...task.entries]);
}

function mergeIndexed(
  base: ListNode,
  over: MapNode,
  shape: Shape | undefined,
  report: Report,
  path: string,
): ListNode {
  const item = shape?.kind === "list" ? shape.item : undefined;
  const items: (SourceNode | undefined)[] = [...base.items];
  for (const [key, entry] of over.entries) {
    const index = Number(key);
    const allowed = base.items.map((_, at) => String(at));
    if (index >= base.items.length)
      report({
        message: `the list has ${base.items.length} items, so there is no index ${key}`,
        entry,
        path: join(path, key),
        allowed,
        name: key,
      });
    else
      items[index] = isNull(entry.value)
        ? undefined
        : merge(items[index], entry.value, item, report, join(path, key));
  }
  return { ...base, items: items.filter((item) => item !== undefined) };
}
