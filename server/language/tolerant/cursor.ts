/**
 * Where a half-written document would go on. A mark is put at the cursor and the text is read as far as it makes
 * sense; the mark's place in the tree is the answer, and the scalar that holds it is what an accepted word replaces.
 */
import type { Position, Range } from "../../lib/lines.ts";
import type { TextEdit } from "../../config/check/diagnostic.ts";
import type { Origin, SourceNode } from "../../config/text/node.ts";
import { tolerantParse } from "./tolerantParse.ts";
import { Watch, type WatchedScalar } from "./watch.ts";
import { depthAt } from "./indent.ts";
import type { Step } from "../spot.ts";

export interface Cursor {
  /** Of the map whose key, or of the place whose value, is being written. */
  readonly path: readonly Step[];
  /** `either`: where a value may begin, or on a line of its own, in a list or at the root, a key. */
  readonly writing: "key" | "value" | "either";
  /** What the scalar has before and after the cursor, quotes aside. */
  readonly before: string;
  readonly after: string;
  /** What an accepted word replaces; within the quotes. */
  readonly range: Range;
  /** The quote that the word is in, and whether it is closed. */
  readonly quote: { readonly mark: string; readonly closed: boolean } | undefined;
  /** The document's tree, the mark in it. */
  readonly root: SourceNode | undefined;
  /** Keys already in the map. */
  readonly taken: readonly string[];
  /** The other keys of the map whose value is written. */
  readonly siblings: readonly string[];
  /** The innermost bracket that is open. */
  readonly flow: "[" | "{" | undefined;
  /** A key whose colon is there already. */
  readonly colon: boolean;
  /** Directly after a colon: a space has to come first. */
  readonly gap: boolean;
  /** Among the dashes of a list, where its own is missing. */
  readonly dash: boolean;
  /** A separator has to follow: a word is after the cursor. */
  readonly comma: boolean;
  /** Nothing follows on the line but a comment. */
  readonly last: boolean;
  /** The next line is deeper: what it holds will be the key's. */
  readonly above: boolean;
  /** In block style the column at which the map's keys begin; in brackets, the line's. */
  readonly column: number;
  /** Takes the line back to its proper depth, where it is deeper. */
  readonly shift: readonly TextEdit[];
  /** Columns that it lacks to its proper depth. */
  readonly lacks: number;
}

const mark = "\uE000";

/** A line as it is read: the cursor between its head and tail, and by how many columns reading has moved it. */
interface CursorLine {
  readonly lines: readonly string[];
  readonly line: number;
  readonly head: string;
  readonly tail: string;
  readonly moved: number;
}

export function cursorAt(text: string, { line, character }: Position): Cursor | undefined {
  const lines = text.split("\n");
  const whole = (lines[line] ?? "").replace(/\r$/, "");
  const at = Math.min(character, whole.length);
  const place: CursorLine = { lines, line, head: whole.slice(0, at), tail: whole.slice(at), moved: 0 };
  const found = beforeQuote(place) ?? read(place);
  if (found === undefined) return undefined;
  if (found.before === "" && /^\s+\S/.test(found.after))
    return found.token.flow === undefined ? undefined : separated(place);
  return snapped(place, found) ?? afterColon(place, found) ?? cursor(place, found);
}

interface Found {
  readonly path: readonly Step[];
  readonly on: "key" | "value";
  /** The map's entries, where a key is written. */
  readonly keys: readonly string[];
  /** Where the key or the list is that the value belongs to. */
  readonly holder: Origin | undefined;
  readonly holderKind: "map" | "list" | "root";
  readonly before: string;
  readonly after: string;
  readonly token: WatchedScalar;
  readonly root: SourceNode;
  /** Offset at which the line begins. */
  readonly from: number;
}

function read({ lines, line, head, tail }: CursorLine, insert = mark): Found | undefined {
  const above = lines.slice(0, line).reduce((sum, each) => sum + each.length + 1, 0);
  const whole = [...lines];
  whole[line] = head + insert + tail;
  const text = whole.join("\n");
  const watch = new Watch(above + head.length);
  const root = tolerantParse(text, { file: "cursor", folder: "", via: [], layer: "file" }, watch);
  const { token } = watch;
  if (root === undefined || token === undefined || token.start < above) return undefined;
  const sought = find(root, [], undefined, "root", []);
  if (sought === undefined) return undefined;
  const [start, end] =
    token.quote === undefined
      ? [token.start, token.end]
      : [token.start + 1, token.end - (token.closed ? 1 : 0)];
  const before = text.slice(start, watch.offset);
  return { ...sought, root, token, from: above, before, after: text.slice(watch.offset + mark.length, end) };
}

/** The cursor is before an opening quote: what is accepted takes the place of all up to the closing one. */
function beforeQuote(place: CursorLine): Found | undefined {
  const { head, tail } = place;
  if (!/^["']/.test(tail) || !/(?:^|[\s[{,])$/.test(head)) return undefined;
  const inside = read({ ...place, head: head + tail.slice(0, 1), tail: tail.slice(1) });
  const mark = inside?.token.quote;
  if (inside === undefined || mark === undefined || !inside.token.closed) return undefined;
  if (inside.before !== "" || inside.after.includes("\n")) return undefined;
  const token = { ...inside.token, quote: undefined, closed: false };
  return { ...inside, token, after: `${mark}${inside.after}${mark}` };
}

type Sought = Pick<Found, "path" | "on" | "keys" | "holder" | "holderKind">;

function find(
  node: SourceNode,
  path: readonly Step[],
  holder: Origin | undefined,
  holderKind: Found["holderKind"],
  siblings: readonly string[],
): Sought | undefined {
  if (node.kind === "scalar") {
    const held = typeof node.value === "string" && node.value.includes(mark);
    return held ? { path, on: "value", keys: siblings, holder, holderKind } : undefined;
  }
  const below =
    node.kind === "list"
      ? [...node.items.entries()].map(([index, item]) => ({ step: index, at: node.origin, value: item }))
      : [...node.entries].map(([step, { key, value }]) => ({ step, at: key, value }));
  const keys = node.kind === "map" ? [...node.entries.keys()].filter((key) => !key.includes(mark)) : [];
  for (const { step, at, value } of below) {
    if (typeof step === "string" && step.includes(mark)) {
      return { path, on: "key", keys, holder: node.origin, holderKind: "map" };
    }
    const found = find(value, [...path, step], at, node.kind, keys);
    if (found !== undefined) return found;
  }
  return undefined;
}

/** A word is after the cursor, in brackets: there are two words, and the comma between them is missing. */
function separated(place: CursorLine): Cursor | undefined {
  const found = read(place, `${mark},`);
  return found === undefined ? undefined : { ...cursor(place, found), comma: true };
}

/**
 * On a line that holds nothing but a word, indentation is what the editor or the person made of it: it is taken for
 * the nearest that means something.
 */
function snapped(place: CursorLine, { token }: Found): Cursor | undefined {
  const { head, tail, lines, line } = place;
  if (token.flow !== undefined || !/^\s*[\w./@+-]*$/.test(head) || !/^[\w./@+-]*\s*$/.test(tail))
    return undefined;
  if (/^\s*-/.test(head)) return undefined;
  const column = head.length - head.trimStart().length;
  const wanted = depthAt(lines, line, column);
  if (wanted === column) return undefined;
  const moved = { ...place, head: " ".repeat(wanted) + head.trimStart(), moved: wanted - column };
  const found = read(moved);
  return found === undefined ? undefined : cursor(moved, found);
}

/** The cursor directly after `key:`: the value is read as if a space were between them. */
function afterColon(place: CursorLine, { token, before }: Found): Cursor | undefined {
  if (token.quote !== undefined || !/^[\w.-]+:[^\s:]*$/.test(before)) return undefined;
  const colon = place.head.length - before.length + before.indexOf(":");
  const head = `${place.head.slice(0, colon + 1)} ${place.head.slice(colon + 1)}`;
  const spaced = { ...place, head, moved: 1 };
  const found = read(spaced);
  if (found === undefined || found.on !== "value" || found.holderKind !== "map") return undefined;
  return { ...cursor(spaced, found), gap: true, lacks: 0 };
}

function cursor(place: CursorLine, found: Found): Cursor {
  const { line, head, tail, moved } = place;
  const { token, from, before, after } = found;
  const end = Math.min(head.length + after.length, head.length + tail.length);
  const range = {
    start: { line, character: Math.max(0, head.length - before.length - moved) },
    end: { line, character: Math.max(0, end - moved) },
  };
  const rest = tail.slice(end - head.length + (token.closed ? 1 : 0));
  const start = token.start - from;
  const indent = head.length - head.trimStart().length;
  const list = found.holderKind === "list";
  const key = found.holderKind === "map" && found.on === "value" ? found.holder : undefined;
  const ownLine = found.holder !== undefined && found.holder.range.start.line !== line;
  return {
    path: found.path,
    writing: found.on === "key" ? "key" : list || ownLine || found.holderKind === "root" ? "either" : "value",
    before,
    after,
    range,
    quote: token.quote === undefined ? undefined : { mark: token.quote, closed: token.closed },
    root: found.root,
    taken: found.on === "key" ? found.keys : [],
    siblings: found.on === "key" ? [] : found.keys,
    flow: token.flow,
    colon: /^\s*:(?:\s|$)/.test(rest),
    gap: false,
    dash:
      list && token.flow === undefined && start === indent && start === found.holder?.range.start.character,
    comma: false,
    last: /^\s*(?:#.*)?$/.test(rest),
    above: nextDepth(place) > start,
    column:
      token.flow !== undefined ? indent : key === undefined || ownLine ? start : key.range.start.character,
    shift: shiftOf(line, moved),
    lacks: Math.max(0, moved),
  };
}

/** The indentation of the next line that says something. */
function nextDepth({ lines, line }: CursorLine): number {
  const next = lines.slice(line + 1, line + 200).find((text) => !/^\s*(?:#.*)?$/.test(text));
  return next === undefined ? -1 : next.length - next.trimStart().length;
}

function shiftOf(line: number, moved: number): TextEdit[] {
  if (moved >= 0) return [];
  return [{ range: { start: { line, character: 0 }, end: { line, character: -moved } }, newText: "" }];
}
