/** Python cut into tokens: enough to read calls, literals and class bodies. Nothing is executed. */

type PythonTokenKind = "name" | "number" | "text" | "unknown" | "operator" | "line";

export interface PythonToken {
  readonly kind: PythonTokenKind;
  /** A string's contents without quotes; otherwise the source text. */
  readonly text: string;
  readonly start: number;
  readonly end: number;
  /** For `line`: how far the next statement is indented; 0 otherwise. */
  readonly indent: number;
}

const name = /[\p{L}_][\p{L}\p{N}_]*/uy;
const number = /(?:0[xX][\da-fA-F_]+|(?:\d[\d_]*)?\.?\d[\d_]*\.?(?:[eE][-+]?\d+)?)/y;
const opening = /([rRbBuUfFtT]{0,2})("""|'''|"|')/y;
const operator = /\*\*=?|\/\/=?|->|[=!<>+\-*/%&|^@:]=|<<|>>|\.\.\.|[\s\S]/y;

const at = (pattern: RegExp, text: string, from: number): RegExpExecArray | null => {
  pattern.lastIndex = from;
  return pattern.exec(text);
};

/** Line ends inside brackets and after a backslash are blanks; empty lines and comments are skipped. */
export function tokensOf(text: string): PythonToken[] {
  const tokens: PythonToken[] = [];
  let [depth, from] = [0, 0];
  const push = (kind: PythonTokenKind, end: number, content = text.slice(from, end), indent = 0): void => {
    tokens.push({ kind, text: content, start: from, end, indent });
    from = end;
  };
  push("line", 0, "\n", indentAt(text, 0));
  while (from < text.length) {
    const letter = text[from]!;
    if (letter === "\n") {
      if (depth === 0) lineEnd(tokens, text, from);
      from += 1;
    } else if (/\s/.test(letter)) from += 1;
    else if (letter === "#") from = endOfLine(text, from);
    else if (letter === "\\")
      from = /^\\\r?\n/.test(text.slice(from, from + 3)) ? endOfLine(text, from) + 1 : from + 1;
    else {
      const string = at(opening, text, from);
      if (string !== null) {
        const [opened, prefix = "", quote = ""] = string;
        const { end, value } = stringFrom(text, from + opened.length, quote, prefix);
        const whole = isFormatted(prefix) ? formattedEnd(text, from + opened.length, quote) : undefined;
        push(/[fFtTbB]/.test(prefix) ? "unknown" : "text", whole ?? end, value);
        continue;
      }
      const word = at(name, text, from);
      const digits = word === null ? at(number, text, from) : null;
      if (word !== null) push("name", from + word[0].length);
      else if (digits !== null && /^\.?\d/.test(digits[0])) push("number", from + digits[0].length);
      else {
        const [found = letter] = at(operator, text, from) ?? [];
        if ("([{".includes(found)) depth += 1;
        if (")]}".includes(found)) depth = Math.max(0, depth - 1);
        push("operator", from + found.length);
      }
    }
  }
  return tokens;
}

const endOfLine = (text: string, from: number): number => {
  const end = text.indexOf("\n", from);
  return end < 0 ? text.length : end;
};

/** The indentation of the first line from `start` on that holds something. */
function indentAt(text: string, start: number): number {
  const match = /(?:[ \t\r]*(?:#[^\n]*)?\n)*([ \t]*)/y;
  match.lastIndex = start;
  return match.exec(text)?.[1]?.length ?? 0;
}

function lineEnd(tokens: PythonToken[], text: string, at: number): void {
  if (tokens.at(-1)?.kind !== "line")
    tokens.push({ kind: "line", text: "\n", start: at, end: at + 1, indent: indentAt(text, at + 1) });
}

const escapes: Readonly<Record<string, string>> = {
  n: "\n",
  t: "\t",
  r: "\r",
  "\\": "\\",
  "'": "'",
  '"': '"',
};

/** An unclosed string of one line ends with its line. */
function stringFrom(
  text: string,
  start: number,
  quote: string,
  prefix: string,
): { end: number; value: string } {
  let value = "";
  for (let at = start; at < text.length; at++) {
    const letter = text[at]!;
    if (text.startsWith(quote, at)) return { end: at + quote.length, value };
    if (letter === "\n" && quote.length === 1) return { end: at, value };
    if (letter === "\\") {
      const next = text[at + 1] ?? "";
      value += /[rR]/.test(prefix) ? `\\${next}` : next === "\n" ? "" : (escapes[next] ?? `\\${next}`);
      at += 1;
    } else value += letter;
  }
  return { end: text.length, value };
}

const isFormatted = (prefix: string): boolean => /[fFtT]/.test(prefix);

/** Longer ones nobody writes: an unclosed one is given up there. */
const longestFormatted = 20_000;

/**
 * Where a formatted string ends: since Python 3.12 its fields may hold any expression, strings with its own quotes too. Undefined
 * where it is not closed.
 */
function formattedEnd(text: string, start: number, quote: string): number | undefined {
  const last = Math.min(text.length, start + longestFormatted);
  for (let at = start; at < last; at++) {
    const letter = text[at];
    if (text.startsWith(quote, at)) return at + quote.length;
    if (letter === "\n" && quote.length === 1) return undefined;
    if (letter === "\\" || text.startsWith("{{", at)) at += 1;
    else if (letter === "{") {
      const end = fieldEnd(text, at + 1, last);
      if (end === undefined) return undefined;
      at = end;
    }
  }
  return undefined;
}

/** The brace that closes a field; its format may hold fields again. */
function fieldEnd(text: string, start: number, last: number): number | undefined {
  let depth = 0;
  for (let from = start; from < last; from++) {
    const letter = text[from] ?? "";
    if (letter === "}" && depth === 0) return from;
    if ("([{".includes(letter)) depth += 1;
    else if (")]}".includes(letter)) depth -= 1;
    if (depth < 0) return undefined;
    const string = /["'a-zA-Z]/.test(letter) && !isWord(text[from - 1]) ? at(opening, text, from) : null;
    if (string === null) continue;
    const [opened, prefix = "", quote = ""] = string;
    const inside = from + opened.length;
    const end = isFormatted(prefix) ? formattedEnd(text, inside, quote) : closedEnd(text, inside, quote);
    if (end === undefined) return undefined;
    from = end - 1;
  }
  return undefined;
}

const isWord = (letter: string | undefined): boolean => letter !== undefined && /[\p{L}\p{N}_]/u.test(letter);

function closedEnd(text: string, start: number, quote: string): number | undefined {
  const { end } = stringFrom(text, start, quote, "");
  return end >= start + quote.length && text.slice(end - quote.length, end) === quote ? end : undefined;
}
