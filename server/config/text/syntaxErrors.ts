/** What the YAML parser refuses, in plain words and at its root: what it says of later lines because of it is left out. */
import type { ErrorCode, YAMLError } from "yaml";
import { unclosed } from "./brackets.ts";
import type { Range } from "../../lib/lines.ts";
import type { Diagnostic, Fix } from "../check/diagnostic.ts";
import { spaceFix, spaceWords, unspaced } from "./missingSpace.ts";

const words: Partial<Record<ErrorCode, string>> = {
  DUPLICATE_KEY: "This key is written twice in one block: keep one of them.",
  TAB_AS_INDENT: "A tab cannot indent: use spaces.",
  MULTILINE_IMPLICIT_KEY:
    "This reads as one key over several lines: is a colon missing, or is the next line's indentation wrong?",
  BLOCK_AS_IMPLICIT_KEY:
    "A second `key: value` cannot start here: put it on a line of its own, at the depth of its siblings.",
  BLOCK_IN_FLOW: "A second `key: value` cannot start here: a comma is missing before it.",
  BAD_INDENT: "The indentation does not fit the lines above.",
  MULTIPLE_DOCS: "A config is one document: remove the `---` and what follows it.",
  BAD_SCALAR_START: "A value cannot begin with this character: put the whole value in quotes.",
};

/** Of a code that says many things: what the parser's own words are about. */
const phrases: readonly (readonly [RegExp, string])[] = [
  [/^Implicit map keys/, "A colon is missing after this key."],
  [/^Missing , or :/, "A comma is missing before this, or a colon after it."],
  [/^Sequence item without/, "Every item of a list begins with `- `."],
  [/flow-(seq|map)-end token/, "This closes nothing: no bracket of its kind is open here."],
  [/^Unexpected block-seq-ind/, "A list cannot begin on the line of its key: put the `- ` below it."],
  [
    /at node end$/,
    "The value ends before this: put the whole value in quotes, or what follows on a line of its own.",
  ],
];

/** Once the parser has lost the structure, it refuses every line that follows. */
const isEcho = ({ message }: YAMLError): boolean => /^Unexpected .* in YAML stream/.test(message);

/** One diagnostic per root: an unclosed bracket or quote hides whatever the parser said because of it. */
export function syntaxErrors(
  file: string,
  text: string,
  errors: readonly YAMLError[],
  rangeOf: (start: number, end: number) => Range,
): Diagnostic[] {
  if (errors.length === 0) return [];
  const at = (message: string, range: Range, fixes: readonly Fix[] = []): Diagnostic => ({
    severity: "error",
    rule: "syntax",
    message,
    key: "",
    file,
    range,
    fixes,
  });
  const open = unclosed(text);
  if (open !== undefined) return [at(open.message, rangeOf(open.offset, open.offset + 1))];
  /** The last line that something was said of: what the parser says of it again is an echo. */
  let reported = -1;
  const found: Diagnostic[] = [];
  for (const error of errors) {
    const range = rangeOf(error.pos[0], endOf(text, error));
    if (range.start.line <= reported || (found.length > 0 && isEcho(error))) continue;
    reported = rangeOf(...error.pos).end.line;
    const spaces = missingSpaces(text, error, rangeOf);
    if (spaces !== undefined) found.push(at(spaces.words, range, [spaces.fix]));
    else found.push(at(worded(error), range, error.code === "TAB_AS_INDENT" ? [spaced(text)] : []));
  }
  return found;
}

const worded = ({ code, message }: YAMLError): string =>
  words[code] ??
  phrases.find(([pattern]) => pattern.test(message))?.[1] ??
  (/^Unexpected .* token/.test(message)
    ? "This does not fit the lines above: is a colon, a dash or a bracket missing?"
    : `${message.replace(/\.$/, "")}.`);

/** Of lines that the parser took for one key, those that are keys and values without a space between. */
function missingSpaces(
  text: string,
  { code, pos: [start, end] }: YAMLError,
  rangeOf: (start: number, end: number) => Range,
): { readonly words: string; readonly fix: Fix } | undefined {
  if (code !== "MULTILINE_IMPLICIT_KEY") return undefined;
  const found: { offset: number; words: string }[] = [];
  for (const { 0: line, index } of text.slice(start, end).matchAll(/\S.*/g)) {
    const word = unspaced(line.trimEnd());
    if (word !== undefined)
      found.push({ offset: start + index + word.key.length + 1, words: spaceWords(word) });
  }
  const [first] = found;
  if (first === undefined) return undefined;
  return { words: first.words, fix: spaceFix(found.map(({ offset }) => rangeOf(offset, offset))) };
}

/** The parser marks one character of a word, or all the lines that it took for one key: the word is meant. */
function endOf(text: string, { code, pos: [start, end] }: YAMLError): number {
  const word = /^[\w./-]+/.exec(text.slice(start, start + 200))?.[0].length ?? 0;
  if (code === "MISSING_CHAR" || code === "UNEXPECTED_TOKEN") return Math.max(start + word, start + 1);
  const line = text.indexOf("\n", start);
  const isKey = code === "MULTILINE_IMPLICIT_KEY" || code === "MULTIPLE_DOCS";
  if (!isKey || line < 0) return Math.max(end, start + 1);
  return Math.max(Math.min(end, start + text.slice(start, line).trimEnd().length), start + 1);
}

/** Two spaces for every tab that indents. */
function spaced(text: string): Fix {
  const edits = text.split("\n").flatMap((line, index) => {
    const lead = /^[ \t]*/.exec(line)?.[0] ?? "";
    const range = { start: { line: index, character: 0 }, end: { line: index, character: lead.length } };
    return lead.includes("\t") ? [{ range, newText: lead.replaceAll("\t", "  ") }] : [];
  });
  return { title: "Indent with spaces", edits, preferred: true };
}
