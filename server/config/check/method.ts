/** Which method a slot's node chooses, in each of the ways a config may write it. */
import { extname } from "node:path";
import { isPython } from "../../lib/notebook/notebook.ts";
import { datasetStem } from "../../lib/datasets/name.ts";
import { methodOf } from "../../methods/index.ts";
import type { SlotName } from "../../core/declaration.ts";
import { entry, mapNode, textOf, type MapNode, type SourceNode } from "../text/node.ts";

/** Key that names the method. A task is chosen by its environment, its file, or by how it is made of others. */
type UseKey = "use" | "env" | "generate" | TaskFileKey;

/** Keys of a task that name a file and thereby the method of the same name. */
export const taskFileKeys = ["dataset", "corpus", "harbor"] as const;
type TaskFileKey = (typeof taskFileKeys)[number];
const isFileKey = (key: string): key is TaskFileKey => taskFileKeys.some((one) => one === key);

export interface Chosen {
  /** As written: a method's name, or a reference to a file of the user's. */
  readonly text: string;
  /** The declaration's name: `user` and `python` for files. */
  readonly method: string;
  readonly key: UseKey;
  readonly node: SourceNode;
}

/** `./brevity.ts`, `./style.py:compute_score`, `./tasks.py:Sums.correct`: a reward in a file of the user's. */
interface FileReference {
  readonly path: string;
  readonly export: string | undefined;
  readonly language: "script" | "python";
}

const scripts = [".ts", ".mts", ".cts", ".js", ".mjs", ".cjs"];

export function fileReference(text: string): FileReference | undefined {
  const match = /^(.+?)(?::([A-Za-z_$][\w$]*(?:\.[A-Za-z_]\w*)?))?$/.exec(text);
  const path = match?.[1];
  if (path === undefined) return undefined;
  const extension = extname(path);
  if (isPython(path)) return { path, export: match?.[2], language: "python" };
  if (scripts.includes(extension)) return { path, export: match?.[2], language: "script" };
  return undefined;
}

/** Slots whose method may be a file of the user's. */
const fileSlots = ["reward", "environment", "tool"] as const satisfies readonly SlotName[];
export type FileSlot = (typeof fileSlots)[number];
export const takesFile = (slot: SlotName): slot is FileSlot => fileSlots.some((one) => one === slot);

const methodOfText = (slot: SlotName, text: string): string => {
  const known = methodOf(slot, text)?.name;
  if (known !== undefined || !takesFile(slot)) return known ?? text;
  const reference = fileReference(text);
  if (reference === undefined) return text;
  return reference.language === "python" ? "python" : "user";
};

/** The short form `sampler: uniform` as `{ use: uniform }`; anything else as it is. */
export function longForm(node: SourceNode, slot: SlotName): SourceNode {
  if (textOf(node) === undefined) return node;
  const key: UseKey = slot === "task" ? "env" : "use";
  return mapNode(node.origin, [[key, { key: node.origin, value: node }]]);
}

/** undefined where nothing (valid) is chosen. */
export function chosenOf(node: MapNode, slot: SlotName): Chosen | undefined {
  const keys: readonly UseKey[] = slot === "task" ? ["env", ...taskFileKeys, "use"] : ["use"];
  for (const key of keys) {
    const value = entry(node, key)?.value;
    const text = textOf(value);
    if (value === undefined || text === undefined) continue;
    if (isFileKey(key)) return { text, method: key, key, node: value };
    return { text, method: methodOfText(slot, text), key, node: value };
  }
  const made = slot === "task" ? entry(node, "generate")?.value : undefined;
  return made?.kind === "map"
    ? { text: "generated", method: "generated", key: "generate", node: made }
    : undefined;
}

/** The name that addresses an item of a named list. */
export function nameOf(node: SourceNode, what: "task" | "stage"): string | undefined {
  const written = textOf(entry(node, "name")?.value);
  if (written !== undefined || what === "stage") return written;
  const long = longForm(node, "task");
  const chosen = long.kind === "map" ? chosenOf(long, "task") : undefined;
  if (chosen === undefined) return undefined;
  return isFileKey(chosen.key) ? datasetStem(chosen.text) : chosen.text;
}
