/** Brackets of code whose strings and comments are blanked. */

const pairs: Readonly<Record<string, string>> = { "(": ")", "[": "]", "{": "}", "<": ">" };

/** Offset of the bracket that closes the one at `open`; -1 where none does. `=>` closes nothing. */
export function closingOf(code: string, open: number): number {
  const stack: string[] = [];
  for (let at = open; at < code.length; at++) {
    const c = code[at] ?? "";
    const closer = pairs[c];
    if (closer !== undefined && (c !== "<" || /[\w$]/.test(code[at - 1] ?? ""))) stack.push(closer);
    else if (c === stack.at(-1) && !(c === ">" && code[at - 1] === "=")) stack.pop();
    if (stack.length === 0) return at;
  }
  return -1;
}

/** Offsets of the parts between separators that are in no bracket. */
export function partsOf(code: string, separators: string): { start: number; end: number }[] {
  const parts: { start: number; end: number }[] = [];
  let start = 0;
  for (let at = 0; at <= code.length; at++) {
    const c = code[at] ?? separators[0] ?? "";
    if (c in pairs && (c !== "<" || /[\w$]/.test(code[at - 1] ?? ""))) {
      const close = closingOf(code, at);
      if (close > 0) at = close;
    } else if (separators.includes(c)) {
      if (code.slice(start, at).trim() !== "") parts.push({ start, end: at });
      start = at + 1;
    }
  }
  return parts;
}

/** Offset of a text outside brackets; -1 where there is none. */
export function outside(code: string, wanted: RegExp): number {
  for (let at = 0; at < code.length; at++) {
    if (wanted.test(code.slice(at, at + 2))) return at;
    if ((code[at] ?? "") in pairs) {
      const close = closingOf(code, at);
      if (close > 0) at = close;
    }
  }
  return -1;
}
