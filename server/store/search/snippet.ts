/** The part of a text around what was found in it. */
import { runInNewContext } from "node:vm";
import { tokensOf, type Wanted } from "./searchText.ts";

export interface Snippet {
  readonly text: string;
  /** What was found, as [start, end) in the text. */
  readonly marks: readonly (readonly [number, number])[];
}

/** Characters before the first find, and of all. */
const before = 60;
const most = 240;
/** Texts are looked through as far as this for what to mark. */
const looked = 64 * 1024;

export function snippetOf(text: string, ranges: readonly (readonly [number, number])[]): Snippet {
  const first = ranges[0]?.[0] ?? 0;
  const from = wordStart(text, Math.max(0, first - before));
  const part = text.slice(from, from + most);
  const head = from > 0 ? "…" : "";
  const shift = head.length - from;
  const end = from + part.length;
  return {
    text: `${head}${part}${end < text.length ? "…" : ""}`,
    marks: ranges
      .filter(([start, stop]) => start >= from && stop <= end)
      .map(([start, stop]) => [start + shift, stop + shift] as const),
  };
}

const wordStart = (text: string, at: number): number => {
  if (at === 0) return 0;
  const space = text.indexOf(" ", at);
  return space === -1 || space - at > before / 2 ? at : space + 1;
};

/** Where the words of a question are, the first of them first. */
export function markWords(text: string, { marks }: Extract<Wanted, { kind: "words" }>): [number, number][] {
  const tokens = tokensOf(text.slice(0, looked));
  const found: [number, number][] = [];
  tokens.forEach(({ start }, at) => {
    for (const { words, prefix } of marks) {
      const last = words.length - 1;
      const fits = words.every((word, index) => {
        const other = tokens[at + index]?.word;
        return prefix && index === last ? other?.startsWith(word) === true : other === word;
      });
      if (fits) found.push([start, tokens[at + last]!.end]);
    }
  });
  return found;
}

/** Milliseconds that an expression may take for a page of texts. */
const patience = 300;

/**
 * Where an expression is found first in each text; null: nowhere.
 * @throws Error with code ERR_SCRIPT_EXECUTION_TIMEOUT where it takes too long: an expression may go back without end
 */
export function matchAll(
  texts: readonly string[],
  { source, flags }: Extract<Wanted, { kind: "regex" }>,
): readonly (readonly [number, number] | null)[] {
  const found: unknown = runInNewContext(
    "JSON.stringify(JSON.parse(texts).map((text) => { const found = new RegExp(source, flags).exec(text); return found === null ? null : [found.index, found.index + found[0].length]; }))",
    { texts: JSON.stringify(texts), source, flags },
    { timeout: patience },
  );
  return JSON.parse(String(found));
}
