/** A configuration of another framework that says by itself what is found in it: `#  ^^^ severity [rule] key: message`. */
import type { Diagnostic, TextEdit } from "../../server/config/check/diagnostic.ts";
import { checkFrameworkDocument, readFrameworkDocument } from "../../server/frameworks/check/index.ts";

const isMarker = (line: string): boolean => /^#(\s*|<)\^/.test(line);

export const withoutMarkers = (source: string): string =>
  source
    .split("\n")
    .filter((line) => !isMarker(line))
    .join("\n");

/** undefined where the text is no configuration of the three. Nothing that is installed counts. */
export function diagnosed(file: string, text: string): readonly Diagnostic[] | undefined {
  const document = readFrameworkDocument(file, text, { environment: "/nowhere" });
  return document === undefined ? undefined : checkFrameworkDocument(document);
}

/** The text with the markers that its diagnostics ask for. */
export const annotated = (text: string, found: readonly Diagnostic[]): string =>
  text
    .split("\n")
    .flatMap((line, i) => [
      line,
      ...found.filter(({ range }) => range.start.line === i).map((one) => marker(one, line)),
    ])
    .join("\n");

function marker({ range, severity, rule, key, message }: Diagnostic, line: string): string {
  const end = range.end.line > range.start.line ? line.length : range.end.character;
  const width = "^".repeat(Math.max(1, end - range.start.character));
  // The comment's own `#` takes the first column.
  const place =
    range.start.character === 0 ? `#<${width}` : `#${" ".repeat(range.start.character - 1)}${width}`;
  return `${place} ${severity} [${rule}] ${key}: ${message}`;
}

export function edited(text: string, edits: readonly TextEdit[]): string {
  const lines = text.split("\n");
  const offset = ({ line, character }: TextEdit["range"]["start"]): number =>
    lines.slice(0, line).reduce((sum, one) => sum + one.length + 1, 0) + character;
  return [...edits]
    .sort((a, b) => offset(b.range.start) - offset(a.range.start))
    .reduce(
      (all, { range, newText }) => all.slice(0, offset(range.start)) + newText + all.slice(offset(range.end)),
      text,
    );
}
