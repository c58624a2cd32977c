/** Edits as people, editors and accidents make them, each as a range of the text that is replaced. */
import type { Chance } from "./random.ts";

export interface Edit {
  /** Offsets in UTF-16 units; those past the end mean the end. */
  readonly start: number;
  readonly end: number;
  readonly text: string;
}

export const applied = (text: string, { start, end, text: written }: Edit): string =>
  text.slice(0, start) + written + text.slice(end);

const pieces = [
  ..." \t\n:{}[],'\"#&*!|>-?%@`$\\/=+~<.0é",
  "\r\n",
  "\n\n",
  ": ",
  "- ",
  "  ",
  "---\n",
  "...",
  "<<: *a",
  "&a ",
  "${",
  "$(",
  "🙂",
  "\u0000",
  "\uFEFF",
  "\u2028",
  "null",
  "1e999",
  "-1",
  "true",
  "use: ",
  "extends: ",
  "weight: ",
  "stages:\n",
  "  - name: ",
  "schedule: linear",
  "a.b.c=1 \\\n",
];

type Maker = (text: string, chance: Chance, others: readonly string[]) => Edit;

const word = /[\w./-]+/g;

/** Start and end of a line, its break included. */
function lineAt(text: string, chance: Chance): [start: number, end: number] {
  const at = chance.below(text.length + 1);
  const start = text.lastIndexOf("\n", at - 1) + 1;
  const end = text.indexOf("\n", at);
  return [start, end < 0 ? text.length : end + 1];
}

const makers: readonly Maker[] = [
  function type(text, chance) {
    const at = chance.below(text.length + 1);
    return { start: at, end: at, text: chance.of(pieces) };
  },
  function erase(text, chance) {
    const start = chance.below(text.length + 1);
    return { start, end: Math.min(text.length, start + 1 + chance.below(4)), text: "" };
  },
  function eraseMuch(text, chance) {
    const start = chance.below(text.length + 1);
    return { start, end: Math.min(text.length, start + chance.below(200)), text: "" };
  },
  function eraseToEndOfLine(text, chance) {
    const [start, end] = lineAt(text, chance);
    return { start: start + chance.below(Math.max(1, end - start)), end: Math.max(start, end - 1), text: "" };
  },
  function eraseLine(text, chance) {
    const [start, end] = lineAt(text, chance);
    return { start, end, text: "" };
  },
  function repeatLine(text, chance) {
    const [start, end] = lineAt(text, chance);
    return { start, end: start, text: text.slice(start, end) };
  },
  function indent(text, chance) {
    const [start] = lineAt(text, chance);
    const spaces = /^[ \t]*/.exec(text.slice(start))?.[0].length ?? 0;
    return { start, end: start + spaces, text: chance.of(["", " ", "  ", "    ", "\t", "      "]) };
  },
  function otherWord(text, chance, others) {
    const words = [...text.matchAll(word)];
    if (words.length === 0) return { start: 0, end: 0, text: "x" };
    const { index, 0: old } = chance.of(words);
    const from = [...chance.of(others).matchAll(word)].map(([each]) => each);
    return { start: index, end: index + old.length, text: from.length === 0 ? "" : chance.of(from) };
  },
  function slipOfAFinger(text, chance) {
    const words = [...text.matchAll(word)].filter(([each]) => each.length > 2);
    if (words.length === 0) return { start: 0, end: 0, text: "x" };
    const { index, 0: old } = chance.of(words);
    const at = index + chance.below(old.length - 1);
    return { start: at, end: at + 2, text: [...text.slice(at, at + 2)].reverse().join("") };
  },
  function pasteLines(text, chance, others) {
    const [start] = lineAt(text, chance);
    const lines = chance.of(others).split("\n");
    const from = chance.below(lines.length);
    return { start, end: start, text: `${lines.slice(from, from + 1 + chance.below(4)).join("\n")}\n` };
  },
  function otherBreaks(text, chance) {
    const crlf = chance.below(2) === 0;
    return {
      start: 0,
      end: text.length,
      text: crlf ? text.replace(/\r?\n/g, "\r\n") : text.replaceAll("\r\n", "\n"),
    };
  },
  function clear(text, chance) {
    return chance.below(6) === 0
      ? { start: 0, end: text.length, text: "" }
      : { start: text.length, end: text.length, text: "\n" };
  },
];

export const randomEdit = (text: string, chance: Chance, others: readonly string[]): Edit =>
  chance.of(makers)(text, chance, others);
