/** A file's own classes with the names of TRL's. */
import type { PythonToken } from "../../../lib/python/tokens.ts";

/** Names that a file takes from a module that is not TRL's, or makes itself. */
export function ownNames(tokens: readonly PythonToken[]): ReadonlySet<string> {
  return new Set(
    tokens.flatMap(({ kind }, i) => {
      if (kind !== "line") return [];
      const end = tokens.findIndex((token, j) => j > i && token.kind === "line");
      return named(tokens.slice(i + 1, end < 0 ? undefined : end).map(({ text }) => text));
    }),
  );
}

/** What one statement names: `from own.configs import GRPOConfig, Other as SFTConfig`, `class GRPOConfig(…):`. */
function named([first, ...words]: readonly string[]): string[] {
  if (first === "class") return words.slice(0, 1);
  if (first !== "from" || words[0] === "trl") return [];
  const taken = words.slice(words.indexOf("import") + 1).filter((word) => !"()".includes(word));
  return taken.filter((_, i) => taken[i + 1] === "," || i + 1 === taken.length);
}
