/** Edits of a text: how they lie to one another, and what comes of them. */
import type { Position, Range } from "../../lib/lines.ts";
import type { TextEdit } from "../check/diagnostic.ts";

export const before = (a: Position, b: Position): boolean =>
  a.line < b.line || (a.line === b.line && a.character < b.character);

/** Whether two ranges share text or an end. */
export const touch = (a: Range, b: Range): boolean => !(before(a.end, b.start) || before(b.end, a.start));

/** The text with edits applied; they do not overlap. */
export function applyEdits(text: string, edits: readonly TextEdit[]): string {
  const starts = [0];
  for (let at = text.indexOf("\n"); at >= 0; at = text.indexOf("\n", at + 1)) starts.push(at + 1);
  const offset = ({ line, character }: Position): number =>
    Math.min((starts[line] ?? text.length) + character, text.length);
  const placed = edits.map(({ range, newText }) => ({
    start: offset(range.start),
    end: offset(range.end),
    newText,
  }));
  const parts: string[] = [];
  let done = 0;
  for (const { start, end, newText } of placed.reverse().sort((a, b) => a.start - b.start || a.end - b.end)) {
    parts.push(text.slice(done, start), newText);
    done = end;
  }
  return [...parts, text.slice(done)].join("");
}

/** What makes one text of another, as an edit of the part in which they differ; none where they do not. */
export function wholeEdit(from: string, to: string): readonly TextEdit[] {
  if (from === to) return [];
  const shorter = Math.min(from.length, to.length);
  let head = 0;
  while (head < shorter && from[head] === to[head]) head += 1;
  let tail = 0;
  while (tail < shorter - head && from[from.length - 1 - tail] === to[to.length - 1 - tail]) tail += 1;
  const at = (offset: number): Position => {
    const above = from.slice(0, offset).split("\n");
    return { line: above.length - 1, character: above.at(-1)?.length ?? 0 };
  };
  return [
    { range: { start: at(head), end: at(from.length - tail) }, newText: to.slice(head, to.length - tail) },
  ];
}
