/** Stages over the top level: each one's overrides merged into the blocks it inherits. */
import { resolve } from "node:path";
import type { Json, JsonObject } from "../../shared/json.ts";
import { defaults, defaultSteps } from "./defaults.ts";
import { defaultOrigin } from "./check.ts";
import { grammar, stageBlocks } from "./grammar.ts";
import { merge, type MergeProblem } from "./merge.ts";
import { fileReference } from "./method.ts";
import {
  changed,
  child,
  entry,
  fromJson,
  mapNode,
  mapOrigins,
  textOf,
  toJson,
  withEntry,
  type MapNode,
  type Origin,
  type SourceNode,
} from "./node.ts";

/** One stage as written, with the tree of its blocks after its overrides. */
export interface StageTree {
  readonly name: string;
  readonly kind: "sft" | "rl";
  readonly steps: number;
  /** Its item in `stages`; undefined for the stage that stands where nobody wrote any. */
  readonly written: MapNode | undefined;
  readonly body: MapNode;
}

/** The blocks a stage may override, out of a whole config. */
export const bodyOf = (root: MapNode): MapNode =>
  mapNode(
    root.origin,
    [...root.entries].filter(([key]) => stageBlocks.includes(key)),
  );

/** Fills what nobody wrote, or somebody removed, with the defaults. */
export function withDefaults(root: MapNode): MapNode {
  const merged = merge(fromJson(defaults, defaultOrigin), root, grammar, () => undefined);
  return merged.kind === "map" ? { ...merged, origin: root.origin } : root;
}

export function stageTrees(
  root: MapNode,
  report: (problem: MergeProblem, stage: string) => void,
): StageTree[] {
  const top = bodyOf(root);
  const list = child(root, "stages");
  const fallback = numberOf(child(root, "steps")) ?? defaultSteps;
  const items = list?.kind === "list" ? list.items.filter((item) => item.kind === "map") : [];
  if (items.length === 0) return [{ name: "rl", kind: "rl", steps: fallback, written: undefined, body: top }];
  return items.map((item, index) => {
    const name = textOf(child(item, "name")) ?? String(index);
    const marked = mapOrigins(bodyOf(item), (origin) => changed(origin, { stage: name }));
    const merged = merge(top, marked, grammar, (problem) => report(problem, name), `stages.${name}`);
    const body = merged.kind === "map" ? inheriting(top, bodyOf(withDefaults(merged)), marked) : top;
    const kind = textOf(child(item, "kind")) === "sft" ? "sft" : "rl";
    return { name, kind, steps: numberOf(child(item, "steps")) ?? fallback, written: item, body };
  });
}

/** Blocks that the stage did not write stay the very nodes of the top level: what was found out about them holds. */
const inheriting = (top: MapNode, body: MapNode, written: MapNode): MapNode =>
  mapNode(
    body.origin,
    [...body.entries].map(([key, own]) => [
      key,
      written.entries.has(key) ? own : (top.entries.get(key) ?? own),
    ]),
  );

export const numberOf = (node: SourceNode | undefined): number | undefined =>
  node?.kind === "scalar" && typeof node.value === "number" ? node.value : undefined;

/** `--steps`: at most so many rl steps over all stages, in their order; a stage with none left is dropped. */
export function capSteps(root: MapNode, steps: number): MapNode {
  const origin: Origin = { ...defaultOrigin, file: `steps=${steps}`, layer: "set" };
  const scalar = (value: number): SourceNode => ({ kind: "scalar", value, origin });
  const list = child(root, "stages");
  const fallback = numberOf(child(root, "steps")) ?? defaultSteps;
  if (list?.kind !== "list" || list.items.length === 0)
    return withEntry(root, "steps", scalar(Math.min(fallback, steps)));
  let left = steps;
  const items = list.items.flatMap((item): SourceNode[] => {
    if (item.kind !== "map" || textOf(child(item, "kind")) === "sft") return [item];
    const own = Math.min(numberOf(child(item, "steps")) ?? fallback, left);
    left -= own;
    return own === 0 ? [] : [withEntry(item, "steps", scalar(own))];
  });
  return withEntry(root, "stages", { ...list, items }, entry(root, "stages")?.key);
}

/** A stage's overrides as plain data, files of the user's made absolute. */
export function writtenJson(node: SourceNode): Json {
  if (node.kind === "list") return node.items.map(writtenJson);
  if (node.kind !== "map") return toJson(node);
  const found: Record<string, Json> = {};
  for (const [key, { value }] of node.entries) found[key] = pathJson(key, value) ?? writtenJson(value);
  return found;
}

function pathJson(key: string, value: SourceNode): string | undefined {
  const text = textOf(value);
  if (text === undefined || text.startsWith("${env:")) return undefined;
  if (key === "dataset") return resolve(value.origin.folder, text);
  const reference = key === "use" ? fileReference(text) : undefined;
  if (reference === undefined) return undefined;
  return (
    resolve(value.origin.folder, reference.path) +
    (reference.export === undefined ? "" : `:${reference.export}`)
  );
}

export const isObject = (value: Json | undefined): value is JsonObject =>
  typeof value === "object" && value !== null && !Array.isArray(value);
