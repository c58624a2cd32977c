/** Scalars of a half-written text. */
import type { Scalar } from "../../config/text/node.ts";

/** A plain word as YAML's core types. */
export function plainScalar(text: string): Scalar {
  if (/^(?:|~|null|Null|NULL)$/.test(text)) return null;
  if (/^(?:true|True|TRUE)$/.test(text)) return true;
  if (/^(?:false|False|FALSE)$/.test(text)) return false;
  if (/^0o[0-7]+$/.test(text) || /^0x[\da-fA-F]+$/.test(text)) return Number(text);
  if (/^[-+]?(?:\.\d+|\d+(?:\.\d*)?)(?:[eE][-+]?\d+)?$/.test(text)) return Number(text);
  if (/^[-+]?\.(?:inf|Inf|INF)$/.test(text)) return text.startsWith("-") ? -Infinity : Infinity;
  return text;
}

const escapes: Readonly<Record<string, string>> = { n: "\n", t: "\t", r: "\r", "0": "\0", e: "\u001b" };

/** What is between quotes, its escapes undone. */
export function unquoted(inside: string, quote: string): string {
  const folded = inside.replaceAll(/[ \t]*\r?\n[ \t]*/g, " ");
  if (quote === "'") return folded.replaceAll("''", "'");
  return folded.replaceAll(/\\(?:x([\da-fA-F]{2})|u([\da-fA-F]{4})|(.))/g, (_, x, u, one: string) =>
    x !== undefined || u !== undefined
      ? String.fromCodePoint(Number.parseInt(String(x ?? u), 16))
      : (escapes[one] ?? one),
  );
}

/** Offset of the quote that closes the one at `start`, below `end`; -1 where none does. */
export function closingQuote(text: string, start: number, end: number): number {
  const quote = text[start];
  for (let at = start + 1; at < end; at++) {
    if (text[at] === "\\" && quote === '"') at++;
    else if (text[at] === quote) {
      if (quote === "'" && text[at + 1] === "'") at++;
      else return at;
    }
  }
  return -1;
}

export const endOfLine = (text: string, from: number, end = text.length): number => {
  const found = text.indexOf("\n", from);
  const at = found < 0 || found > end ? end : found;
  return text[at - 1] === "\r" && at > from ? at - 1 : at;
};

/** The end of a plain scalar that begins at `start`: before a comment, a key's colon or, in brackets, a separator. */
export function plainEnd(text: string, start: number, end: number, flow: boolean): number {
  let at = start;
  for (; at < end; at++) {
    const c = text[at] ?? "";
    if (c === "\n") break;
    if (c === "#" && /\s/.test(text[at - 1] ?? " ")) break;
    if (c === ":" && colonEndsKey(text, at, flow)) break;
    if (flow && ",[]{}".includes(c)) break;
  }
  while (at > start && /\s/.test(text[at - 1] ?? "")) at--;
  return at;
}

export const colonEndsKey = (text: string, at: number, flow: boolean): boolean => {
  const next = text[at + 1];
  return next === undefined || /\s/.test(next) || (flow && ",[]{}".includes(next));
};
