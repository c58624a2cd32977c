/** Stages over the top level: each one's overrides merged into the blocks it inherits. */
import type { StageTree } from "./build/types.ts";
import { resolve } from "node:path";
import { isWrittenKind, type WrittenKind } from "../../shared/run/stageKinds.ts";
import type { Json, JsonObject } from "../../shared/lib/json.ts";
import { defaultSteps } from "../core/blocks/body.ts";
import { defaultOrigin } from "./check/check.ts";
import { grammar, stageBlocks, defaults } from "./grammar/grammar.ts";
import { merge, mergeBlocks, type MergeProblem } from "./merge.ts";
import { datasetPlace } from "../lib/datasets/name.ts";
import { fileReference, taskFileKeys } from "./check/method.ts";
import { decidedBy, refreshedBy, underKind } from "./grammar/stageKindBlocks.ts";
import { numberOf, planned } from "./build/stagePlan.ts";
import {
  changed,
  child,
  entry,
  fromJson,
  mapNode,
  mapOrigins,
  textOf,
  toJson,
  type MapEntry,
  type MapNode,
  type SourceNode,
} from "./text/node.ts";

/** The blocks a stage may override, out of a whole config. */
export const bodyOf = (root: MapNode): MapNode =>
  mapNode(
    root.origin,
    [...root.entries].filter(([key]) => stageBlocks.includes(key)),
  );

const defaultTree = mapNode(
  defaultOrigin,
  Object.entries(defaults).map(
    ([key, value]) => [key, { key: defaultOrigin, value: fromJson(value, defaultOrigin) }] as const,
  ),
);

/** Fills what is not written, or was removed, with the defaults. */
export const withDefaults = (root: MapNode): MapNode =>
  mergeBlocks(defaultTree, root, grammar, () => undefined);

export function stageTrees(
  root: MapNode,
  report: (problem: MergeProblem, stage: string) => void,
): StageTree[] {
  const top = bodyOf(root);
  const fallback = numberOf(child(root, "steps")) ?? defaultSteps;
  const items = itemsOf(root);
  if (items.length === 0)
    return [
      {
        name: "rl",
        kind: "rl",
        writtenKind: "rl",
        steps: fallback,
        written: undefined,
        body: top,
        refreshes: [],
        turns: [],
        part: false,
      },
    ];
  const plans = planned(items, fallback);
  return items.map((item, index): StageTree => {
    const name = textOf(child(item, "name")) ?? String(index);
    const writtenKind = writtenKindOf(item);
    const body = stageBody(item, name, top, (problem) => report(problem, name));
    return { name, writtenKind, written: item, body, refreshes: refreshedBy(writtenKind), ...plans[index]! };
  });
}

/** What a stage inherits with its own words over it. */
function stageBody(
  item: MapNode,
  name: string,
  top: MapNode,
  report: (problem: MergeProblem) => void,
): MapNode {
  const kind = writtenKindOf(item);
  const marked = mapOrigins(bodyOf(item), (origin) => changed(origin, { stage: name }));
  const under = underKind(top, kind, item);
  const merged = merge(under, marked, grammar, report, `stages.${name}`);
  const own = new Set<string>([...marked.entries.keys(), ...decidedBy(kind)]);
  return merged.kind === "map" ? inheriting(top, merged, own) : top;
}

export const itemsOf = (root: MapNode): MapNode[] => {
  const list = child(root, "stages");
  return list?.kind === "list" ? list.items.filter((item) => item.kind === "map") : [];
};

const writtenKindOf = (item: SourceNode): WrittenKind => {
  const written = textOf(child(item, "kind"));
  return isWrittenKind(written) ? written : "rl";
};

/** Blocks that the stage did not write stay the very nodes of the top level: what was found out about them holds. */
function inheriting(top: MapNode, merged: MapNode, written: ReadonlySet<string>): MapNode {
  const own = entriesAmong(merged, written);
  const given = merge(entriesAmong(defaultTree, written), own, grammar, () => undefined);
  return mapNode(merged.origin, [...top.entries, ...(given.kind === "map" ? given : own).entries]);
}

function entriesAmong(node: SourceNode, keys: ReadonlySet<string>): MapNode {
  const entries: [string, MapEntry][] = [];
  for (const key of keys) {
    const found = entry(node, key);
    if (found !== undefined) entries.push([key, found]);
  }
  return mapNode(node.origin, entries);
}

/** A stage's overrides as plain data, files of the user's made absolute. */
export function writtenJson(node: SourceNode): Json {
  if (node.kind === "list") return node.items.map(writtenJson);
  if (node.kind !== "map") return toJson(node);
  const found: Record<string, Json> = {};
  for (const [key, { value }] of node.entries)
    found[key] =
      key === "tools" && value.kind === "list"
        ? value.items.map((item) => pathJson("use", item) ?? writtenJson(item))
        : (pathJson(key, value) ?? writtenJson(value));
  return found;
}

/** Keys whose text is a path relative to the file that writes it. */
const fileKeys: readonly string[] = [...taskFileKeys, "checkpoint"];

function pathJson(key: string, value: SourceNode): string | undefined {
  const text = textOf(value);
  if (text === undefined || text.startsWith("${env:")) return undefined;
  if (fileKeys.includes(key)) return datasetPlace(value.origin.folder, text);
  const reference = key === "use" || key === "play" ? fileReference(text) : undefined;
  if (reference === undefined) return undefined;
  return (
    resolve(value.origin.folder, reference.path) +
    (reference.export === undefined ? "" : `:${reference.export}`)
  );
}

export const isObject = (value: Json | undefined): value is JsonObject =>
  typeof value === "object" && value !== null && !Array.isArray(value);
