/** From checked nodes to what is resolved: names, absolute paths, clocks. */
import { isAbsolute, resolve } from "node:path";
import type { JsonObject } from "../../../shared/lib/json.ts";
import { fileReference, nameOf, type Chosen } from "../check/method.ts";
import type { ListNode, SourceNode } from "../text/node.ts";
import { isHubDataset } from "../../lib/datasets/name.ts";
import { perObject } from "../../lib/perObject.ts";

/** Items with names are addressed by them; a second one of the same name, and one without, by its index. */
export function itemName(what: "task" | "stage", item: SourceNode, index: number, list: ListNode): string {
  const name = nameOf(item, what);
  return name !== undefined && firstsOf[what](list).get(name) === index ? name : String(index);
}

/** Index of the first item of each name. */
const firsts = (what: "task" | "stage"): ((list: ListNode) => ReadonlyMap<string | undefined, number>) =>
  perObject(
    ({ items }: ListNode) =>
      new Map(items.map((item, index) => [nameOf(item, what), index] as const).reverse()),
  );
const firstsOf = { task: firsts("task"), stage: firsts("stage") };

/** Files of the user's are absolute once resolved: what is printed, stored and run means the same from anywhere. A variable's value is where the run starts. */
export function absolute({ text, key, node }: Chosen): string {
  const inFolder = (path: string): string =>
    isAbsolute(path) || path.startsWith("$") ? path : resolve(node.origin.folder, path);
  if (key === "dataset" && isHubDataset(text)) return text;
  if (key === "dataset" || key === "corpus" || key === "harbor") return inFolder(text);
  const reference = key === "use" ? fileReference(text) : undefined;
  if (reference === undefined) return text;
  return inFolder(reference.path) + (reference.export === undefined ? "" : `:${reference.export}`);
}

/** Schedules written inside a stage count that stage's steps. */
export function withClock<Value>(value: Value, node: SourceNode): Value;
export function withClock(value: unknown, node: SourceNode): unknown {
  if (typeof value !== "object" || value === null || Array.isArray(value) || node.kind !== "map")
    return value;
  const changed = Object.fromEntries(
    Object.entries(value).map(([key, inner]) => {
      const below = node.entries.get(key)?.value;
      return [key, below === undefined ? inner : withClock(inner, below)];
    }),
  );
  return "schedule" in value && node.origin.stage !== undefined ? { ...changed, clock: "stage" } : changed;
}

/** Parsed parameters as plain data; undefined values are left out. */
export function jsonOf(params: Readonly<Record<string, unknown>>): JsonObject {
  const plain: JsonObject = JSON.parse(JSON.stringify(params));
  return plain;
}
