/** Where something is in a text. */
import type { TextPattern } from "./texts/textPattern.ts";

/** Characters [from, to). */
export type Range = readonly [from: number, to: number];

/** Whether a text is a regular expression as in JavaScript. */
export function isPattern(text: string): boolean {
  try {
    new RegExp(text);
    return true;
  } catch {
    return false;
  }
}

/** What a pattern finds: its first group where it has one, else the whole match; nothing empty. */
export function matchesIn(text: string, pattern: TextPattern): Range[] {
  return pattern.all(text).flatMap((match): Range[] => {
    const part = match[1];
    const start = match.index + (part === undefined ? 0 : match[0].indexOf(part));
    const length = (part ?? match[0]).length;
    return length === 0 ? [] : [[start, start + length]];
  });
}

interface Section {
  readonly open: string;
  readonly close: string;
  /** The text begins inside a section: its opening tag comes before the text. */
  readonly inside?: boolean;
  /** What opens and closes a section belongs to it. */
  readonly tags?: boolean;
}

/** The sections of a text; one that is not closed goes to the end. */
export function sectionsIn(text: string, { open, close, inside = false, tags = false }: Section): Range[] {
  const found: Range[] = [];
  let at = 0;
  for (let first = inside; ; first = false) {
    const opened = first ? 0 : text.indexOf(open, at);
    if (opened < 0) return found;
    const inner = first ? 0 : opened + open.length;
    const closed = text.indexOf(close, inner);
    const end = closed < 0 ? text.length : closed;
    found.push(tags ? [opened, closed < 0 ? end : closed + close.length] : [inner, end]);
    if (closed < 0) return found;
    at = closed + close.length;
  }
}

/** Where each match of a text, or of a pattern, ends. */
export function endsIn(text: string, end: string | TextPattern): number[] {
  if (typeof end !== "string")
    return end.all(text).flatMap(({ 0: { length }, index }) => (length === 0 ? [] : [index + length]));
  const found: number[] = [];
  for (let at = text.indexOf(end); at >= 0; at = text.indexOf(end, at + end.length))
    found.push(at + end.length);
  return found;
}
