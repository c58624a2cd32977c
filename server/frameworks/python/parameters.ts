/** Parameters of Python's functions, by their tokens. */
import { tokensOf, type PythonToken } from "../../lib/python/tokens.ts";

/** The parameters between brackets, each as its tokens; `end` is the closing bracket. */
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

/** Names that `__init__` of a class takes, without `self`; undefined where the class or its method is not there. */
export function constructorOf(source: string, name: string): readonly string[] | undefined {
  const tokens = tokensOf(source);
  const head = tokens.findIndex(({ text }, i) => text === "class" && tokens[i + 1]?.text === name);
  if (head < 0) return undefined;
  const method = tokens.findIndex(
    ({ text }, i) => i > head && text === "def" && tokens[i + 1]?.text === "__init__",
  );
  if (method < 0 || tokens[method + 2]?.text !== "(") return undefined;
  return partsOf(tokens, method + 2)
    .parts.flatMap(([first]) => (first?.kind === "name" ? [first.text] : []))
    .filter((parameter) => parameter !== "self");
}
