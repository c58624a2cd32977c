/** The columns that a script's own statements give the rows of its trainer, as far as its text shows. */
import type { PythonToken } from "../../../lib/python/tokens.ts";

/**
 * `{"answer": …}`, `row["answer"] = …`, `.rename_column("target", "answer")` and `.add_column("answer", …)`. Keys of other dictionaries
 * are among them: only a name that is expected says something.
 */
export function rowColumns(tokens: readonly PythonToken[]): readonly string[] {
  const text = (at: number): string | undefined => tokens[at]?.text;
  const isColumn = (at: number): boolean =>
    text(at + 1) === ":" ||
    (text(at - 1) === "[" && text(at + 1) === "]" && text(at + 2) === "=") ||
    (text(at - 2) === "add_column" && text(at - 1) === "(") ||
    (text(at - 4) === "rename_column" && text(at - 1) === ",") ||
    isRenamed(tokens, at);
  return [
    ...new Set(tokens.flatMap((token, at) => (token.kind === "text" && isColumn(at) ? [token.text] : []))),
  ];
}

/** The new names in `.rename_columns({"target": "answer"})`. */
function isRenamed(tokens: readonly PythonToken[], at: number): boolean {
  if (tokens[at - 1]?.text !== ":" || tokens[at - 2]?.kind !== "text") return false;
  const open = tokens.findLastIndex(({ text }, i) => i < at && text === "{");
  return tokens[open - 2]?.text === "rename_columns";
}
