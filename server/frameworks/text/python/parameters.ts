/** Parameters of Python's functions, by their tokens. */
import { partsOf } from "../../../lib/python/parts.ts";
import { tokensOf } from "../../../lib/python/tokens.ts";

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
