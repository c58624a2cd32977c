import type { PythonToken } from "./tokens.ts";

/** Arguments or parameters between brackets, each as its tokens; `end` is the closing bracket. */
export function partsOf(
  tokens: readonly PythonToken[],
  open: number,
): { parts: PythonToken[][]; end: number } {
  const parts: PythonToken[][] = [[]];
  let depth = 0;
  for (let i = open; i < tokens.length; i++) {
    const token = tokens[i]!;
    const operator = token.kind === "operator";
    if (operator && "([{".includes(token.text)) depth += 1;
    if (operator && ")]}".includes(token.text)) depth -= 1;
    if (depth === 0) return { parts: parts.filter((part) => part.length > 0), end: i };
    if (operator && token.text === "," && depth === 1) parts.push([]);
    else if (i > open) parts.at(-1)!.push(token);
  }
  return { parts, end: tokens.length };
}
