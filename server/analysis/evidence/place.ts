/** Puts what a run has shown on the lines of a config that still says what the run's config said. */
import { isDeepStrictEqual } from "node:util";
import type { Json, JsonObject } from "../../../shared/lib/json.ts";
import { segments } from "../../config/address.ts";
import type { Position, Range } from "../../lib/lines.ts";
import { nameOf } from "../../config/check/method.ts";
import { startOfFile, type SourceNode } from "../../config/text/node.ts";
import type { RunSightings, RunSighting } from "./index.ts";
import { effective, isObject } from "./json.ts";
import type { Read } from "./kind.ts";

/** The config that is open. */
export interface Text {
  readonly text: string;
  /** Its own tree, nothing merged. */
  readonly root: SourceNode | undefined;
  /** Resolved. */
  readonly tree: JsonObject;
  /** Whether the file of a user's reward term is as the run had it. */
  readonly sameFile: (term: string) => boolean;
}

/** Those that hold: every value they rest on is the run's. */
export function holding({ view, sightings }: RunSightings, { tree, sameFile }: Text): readonly RunSighting[] {
  const same = ({ path, except = [] }: Read): boolean =>
    isDeepStrictEqual(without(effective(tree, view.stage, path), except), without(view.value(path), except));
  return sightings.filter(({ reads, term }) => reads.every(same) && (term === undefined || sameFile(term)));
}

function without(value: Json | undefined, keys: readonly string[]): Json | undefined {
  if (!isObject(value) || keys.length === 0) return value;
  return Object.fromEntries(Object.entries(value).filter(([key]) => !keys.includes(key)));
}

/**
 * Where a value is in the file: the stage's own, else the top level's, else the block that would hold it, else the
 * preset or parent that it comes from, else the first key.
 */
export function rangeOf(root: SourceNode | undefined, path: string): Range {
  const keys = segments(path);
  const top = keys[0] === "stages" && keys.length > 2 ? keys.slice(2) : keys;
  return (
    exact(root, keys) ??
    exact(root, top) ??
    above(root, top) ??
    exact(root, ["extends"]) ??
    (root?.kind === "map" ? [...root.entries.values()][0]?.key.range : undefined) ??
    startOfFile
  );
}

const exact = (root: SourceNode | undefined, path: readonly string[]): Range | undefined =>
  path.length === 0 ? undefined : found(root, path);

function above(root: SourceNode | undefined, path: readonly string[]): Range | undefined {
  for (let length = path.length - 1; length > 0; length--) {
    const range = found(root, path.slice(0, length));
    if (range !== undefined) return range;
  }
  return undefined;
}

/** The key's place; of a list's item, or of the short form of a value, that of its first line. */
function found(node: SourceNode | undefined, path: readonly string[]): Range | undefined {
  const [first = "", ...rest] = path;
  if (node?.kind === "map") {
    const entry = node.entries.get(first);
    if (entry === undefined) return undefined;
    return rest.length === 0 ? wide(entry.key.range, entry.value) : found(entry.value, rest);
  }
  if (node?.kind !== "list") return undefined;
  const item =
    node.items.find((each) => nameOf(each, "task") === first || nameOf(each, "stage") === first) ??
    node.items[Number(first)];
  if (item === undefined) return undefined;
  return rest.length === 0 ? firstLine(item.origin.range) : found(item, rest);
}

/** `max_tokens: 64` whole where it is one line of one value; else the key. */
const wide = (key: Range, value: SourceNode): Range =>
  value.kind === "scalar" && value.origin.range.end.line === key.start.line
    ? { start: key.start, end: value.origin.range.end }
    : key;

const firstLine = ({ start, end }: Range): Range =>
  start.line === end.line
    ? { start, end }
    : { start, end: { line: start.line, character: start.character + 1 } };

/** Behind what is written in the line, before a comment. */
export function endOfLine(text: string, line: number): Position {
  const written = (text.split("\n", line + 1)[line] ?? "").replace(/\s+#.*$/, "").trimEnd();
  return { line, character: written.length };
}
