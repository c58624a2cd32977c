/**
 * What of a config can still be looked at while a value of it cannot be read: the value is put aside for one that can,
 * and whatever is then found is only believed where nothing was asked that was put aside (`watched.ts`).
 */
import { methods } from "../../methods/index.ts";
import { isRequired, isSchema } from "./values.ts";
import type { Declaration, SlotName } from "../../core/declaration.ts";
import { nameOf } from "./method.ts";
import { mapNode, type MapEntry, type MapNode, type SourceNode } from "../text/node.ts";

interface Salvaged {
  readonly root: MapNode;
  /** Paths of what was put aside. */
  readonly aside: readonly string[];
}

/** Lists and maps whose members are methods: another replaces one that cannot be read, so that none is missing. */
const members: Readonly<Record<string, { readonly slot: SlotName; readonly key: string }>> = {
  tasks: { slot: "task", key: "env" },
  "reward.terms": { slot: "reward", key: "use" },
  mask: { slot: "mask", key: "use" },
  auxiliary: { slot: "auxiliary", key: "use" },
};
/** Keys of a member that do not depend on its method. */
const kept = ["name", "weight", "tasks"];

/** Values that are put aside at most: each makes the tree anew, and of a config with more wrong there is little left to look at. */
const mostAside = 100;
/** Each attempt puts aside what the one before found, or what holds it. */
const attempts = 4;

/**
 * `wrong` are the keys of what cannot be read in the tree, `errors` gives those of another. undefined: too much would
 * have to be put aside.
 */
export function salvage(
  root: MapNode,
  wrong: readonly string[],
  errors: (root: MapNode) => readonly string[],
): Salvaged | undefined {
  let now: Salvaged = { root, aside: [] };
  for (let attempt = 0; attempt < attempts; attempt++) {
    if (now.aside.length + wrong.length > mostAside) return undefined;
    for (const key of wrong) {
      const held = now.aside.find((path) => key === path || key.startsWith(`${path}.`));
      const found = putAside(now.root, held === undefined ? key : parentOf(held));
      if (found === undefined) return undefined;
      now = { root: found.root, aside: [...now.aside, found.path] };
    }
    wrong = errors(now.root);
    if (wrong.length === 0) return now;
  }
  return undefined;
}

const parentOf = (key: string): string => key.slice(0, Math.max(0, key.lastIndexOf(".")));

/** The tree without the value at a path, which may end where nothing is written (a key that is missing). */
function putAside(root: MapNode, key: string): { readonly root: MapNode; readonly path: string } | undefined {
  const path = key.split(".");
  const top = path[0] === "stages" ? 2 : 0;
  const member = Object.entries(members).find(([list]) => path.slice(top).join(".").startsWith(`${list}.`));
  if (member !== undefined) {
    const [list, { slot, key: use }] = member;
    const depth = top + list.split(".").length + 1;
    return inPlace(root, path.slice(0, depth), (node) => standIn(node, slot, use, path[depth]));
  }
  const found = walk(root, path);
  let depth = found.length;
  // The name of a method: without it its parameters belong to nothing, and all of the choice goes.
  if (depth === path.length && path.at(-1) === "use") depth -= 1;
  while (depth > top && found[depth - 2]?.kind === "list") depth -= 1;
  return depth <= top ? undefined : inPlace(root, path.slice(0, depth), () => undefined);
}

/** The nodes that a path leads through, as far as it goes. */
function walk(root: SourceNode, path: readonly string[]): SourceNode[] {
  const found: SourceNode[] = [];
  let node: SourceNode | undefined = root;
  for (const key of path) {
    node = below(node, key);
    if (node === undefined) break;
    found.push(node);
  }
  return found;
}

function indexOf(items: readonly SourceNode[], key: string): number {
  const named = items.findIndex((item) => nameOf(item, "task") === key || nameOf(item, "stage") === key);
  return named >= 0 ? named : /^\d+$/.test(key) ? Number(key) : -1;
}

function below(node: SourceNode | undefined, key: string): SourceNode | undefined {
  if (node?.kind === "map") return node.entries.get(key)?.value;
  return node?.kind === "list" ? node.items[indexOf(node.items, key)] : undefined;
}

function inPlace(
  root: MapNode,
  path: readonly string[],
  change: (node: SourceNode) => SourceNode | undefined,
): { readonly root: MapNode; readonly path: string } | undefined {
  const changed = replaced(root, path, change);
  return changed?.kind === "map" ? { root: changed, path: path.join(".") } : undefined;
}

function replaced(
  node: SourceNode,
  [key, ...rest]: readonly string[],
  change: (node: SourceNode) => SourceNode | undefined,
): SourceNode | undefined {
  if (key === undefined) return change(node);
  if (node.kind === "map") {
    const entry = node.entries.get(key);
    if (entry === undefined) return node;
    const value = replaced(entry.value, rest, change);
    const entries = [...node.entries].flatMap(([name, one]): [string, MapEntry][] =>
      name !== key ? [[name, one]] : value === undefined ? [] : [[name, { key: one.key, value }]],
    );
    return mapNode(node.origin, entries);
  }
  if (node.kind !== "list") return node;
  const index = indexOf(node.items, key);
  const items = node.items.flatMap((item, at) =>
    at === index ? (replaced(item, rest, change) ?? []) : [item],
  );
  return { ...node, items };
}

/** A method of the slot that needs nothing, under the name and weight of the one that cannot be read. */
function standIn(
  node: SourceNode,
  slot: SlotName,
  key: string,
  wrong: string | undefined,
): SourceNode | undefined {
  const plain = methods.find(
    (method) => method.slot === slot && method.name !== "none" && needsNothing(method),
  );
  if (plain === undefined) return undefined;
  const { origin } = node;
  const text = (value: string): MapEntry => ({ key: origin, value: { kind: "scalar", value, origin } });
  const entries = node.kind === "map" ? [...node.entries] : [];
  const stays = entries.filter(([name]) => kept.includes(name) && name !== wrong);
  const name = slot === "task" && !stays.some(([key]) => key === "name") ? nameOf(node, "task") : undefined;
  return mapNode(origin, [
    [key, text(plain.name)],
    ...(name === undefined ? [] : [["name", text(name)] as const]),
    ...stays,
  ]);
}

const needsNothing = ({ params }: Declaration): boolean =>
  Object.values(params.shape).every((schema) => isSchema(schema) && !isRequired(schema));
