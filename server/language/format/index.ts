/** Formatting that is never wrong: where the result would not say the same, nothing is changed. */
import type { TextEdit } from "vscode-languageserver";
import { TextDocument } from "vscode-languageserver-textdocument";
import { isDeepStrictEqual } from "node:util";
import { parseDocument, type Document } from "yaml";
import type { Range } from "../../lib/lines.ts";
import { firstBeyond } from "../../lib/yamlAliases.ts";
import { applied, layout, type Change } from "./layout.ts";
import { Unformattable } from "./pieces.ts";

/** @param within only the top-level blocks that these lines touch: part of a block cannot be indented alone */
export function formatting(uri: string, text: string, within?: Range): TextEdit[] {
  const chosen = safeChanges(text, within === undefined ? () => true : inside(text, within));
  const document = TextDocument.create(uri, "yaml", 0, text);
  return chosen.map(({ start, end, text: newText }) => ({
    range: { start: document.positionAt(start), end: document.positionAt(end) },
    newText,
  }));
}

export const formatted = (text: string): string =>
  applied(
    text,
    safeChanges(text, () => true),
  );

/** None where the text has errors, or would say something else afterwards. */
function safeChanges(text: string, wanted: (change: Change) => boolean): readonly Change[] {
  const before = read(text);
  if (before.errors.length > 0 || firstBeyond(before, mostAliased) !== undefined) return [];
  const changes = laidOut(text).filter(wanted);
  const after = applied(text, changes);
  return changes.length > 0 && saysTheSame({ text, document: before }, { text: after, document: read(after) })
    ? changes
    : [];
}

const read = (text: string): Document => parseDocument(text, { logLevel: "error" });

/** Values that aliases may have in a text that is laid out: to compare more of them takes too long. */
const mostAliased = 10_000;

function laidOut(text: string): readonly Change[] {
  try {
    return layout(text);
  } catch (error) {
    if (error instanceof Unformattable) return [];
    throw error;
  }
}

/** From the first line of the block that `within` begins in to the last of the one it ends in. */
function inside(text: string, within: Range): (change: Change) => boolean {
  const lines = text.split("\n");
  const begins = (line: string | undefined): boolean => line !== undefined && /^[^\s#\]}]/.test(line);
  let first = Math.min(within.start.line, lines.length - 1);
  while (first > 0 && !begins(lines[first])) first -= 1;
  // A selection of whole lines ends before the first character of the next.
  const { start, end } = within;
  let last = end.character === 0 && end.line > start.line ? end.line : end.line + 1;
  while (last < lines.length && !begins(lines[last])) last += 1;
  const offset = (line: number): number =>
    lines.slice(0, line).reduce((sum, { length }) => sum + length + 1, 0);
  const [from, to] = [offset(first), offset(last)];
  return (change) => change.start >= from && change.end <= to;
}

interface Read {
  readonly text: string;
  readonly document: Document;
}

/** The same values, and the same comments in the same order. */
const saysTheSame = (before: Read, after: Read): boolean =>
  after.document.errors.length === 0 &&
  isDeepStrictEqual(valueOf(before), valueOf(after)) &&
  isDeepStrictEqual(commentsOf(before.text), commentsOf(after.text));

/** Of a half-written text too: where an alias comes before its anchor, only the same text says the same. */
function valueOf({ document, text }: Read): unknown {
  try {
    return document.toJS();
  } catch (error) {
    if (error instanceof ReferenceError) return text;
    throw error;
  }
}

const commentsOf = (text: string): string[] =>
  [...text.matchAll(/(?<=^|\s)#.*$/gm)].map(([comment]) => comment.trimEnd());
