/** From the word at a position outwards: value, entry, block, document. */
import type { SelectionRange } from "vscode-languageserver";
import type { Position, Range } from "../lib/lines.ts";
import type { SourceNode } from "../config/text/node.ts";
import { contains } from "./locate.ts";

export function selectionAt(root: SourceNode | undefined, text: string, at: Position): SelectionRange {
  const lines = text.split(/\r?\n/);
  const last = lines.length - 1;
  const whole: Range = {
    start: { line: 0, character: 0 },
    end: { line: last, character: lines[last]?.length ?? 0 },
  };
  const ranges = [whole, ...(root === undefined ? [] : below(root, at, lines)), wordAt(lines, at)];
  let selection: SelectionRange = { range: whole };
  for (const range of ranges)
    if (!isEmpty(range) && isInside(range, selection.range) && contains(range, at))
      selection = { range, parent: selection };
  return selection;
}

function below(node: SourceNode, at: Position, lines: readonly string[]): Range[] {
  const own = trimmed(node.origin.range, lines);
  if (!contains(own, at)) return [];
  if (node.kind === "map")
    for (const { key, value } of node.entries.values()) {
      const entry = trimmed({ start: key.range.start, end: later(key.range, value.origin.range) }, lines);
      if (contains(entry, at))
        return [own, entry, ...(contains(key.range, at) ? [key.range] : below(value, at, lines))];
    }
  if (node.kind === "list")
    for (const item of node.items)
      if (contains(item.origin.range, at)) return [own, ...below(item, at, lines)];
  return node.kind === "scalar" ? [own, inner(own, lines)] : [own];
}

const later = (a: Range, b: Range): Position =>
  b.end.line > a.end.line || (b.end.line === a.end.line && b.end.character > a.end.character) ? b.end : a.end;

/** A block ends with its last character, not with the line breaks after it. */
function trimmed({ start, end }: Range, lines: readonly string[]): Range {
  let { line, character } = end;
  while (line > start.line && (lines[line] ?? "").slice(0, character).trim() === "") {
    line -= 1;
    character = (lines[line] ?? "").trimEnd().length;
  }
  return { start, end: { line, character } };
}

/** Within quotes. */
function inner(range: Range, lines: readonly string[]): Range {
  const { start, end } = range;
  const first = (lines[start.line] ?? "")[start.character];
  if ((first !== '"' && first !== "'") || end.character < 2) return range;
  return {
    start: { line: start.line, character: start.character + 1 },
    end: { line: end.line, character: end.character - 1 },
  };
}

function wordAt(lines: readonly string[], { line, character }: Position): Range {
  const text = lines[line] ?? "";
  const head = /[\w-]*$/.exec(text.slice(0, character))?.[0].length ?? 0;
  const tail = /^[\w-]*/.exec(text.slice(character))?.[0].length ?? 0;
  return { start: { line, character: character - head }, end: { line, character: character + tail } };
}

const before = (a: Position, b: Position): boolean =>
  a.line < b.line || (a.line === b.line && a.character <= b.character);

/** Strictly: the same range again is no step outwards. */
const isInside = (a: Range, b: Range): boolean =>
  before(b.start, a.start) && before(a.end, b.end) && !(before(a.start, b.start) && before(b.end, a.end));

const isEmpty = ({ start, end }: Range): boolean =>
  start.line === end.line && start.character === end.character;
