/** A line of a document in words. */
import { cellLine, isNotebook } from "../../../lib/notebook/notebook.ts";
import type { FrameworkDocument } from "../document.ts";

/** "line 12"; of a notebook "line 3 of cell 5". @param line counted from 0 */
export function lineText({ file, text }: Pick<FrameworkDocument, "file" | "text">, line: number): string {
  const place = isNotebook(file) ? cellLine(text, line) : undefined;
  return place === undefined ? `line ${line + 1}` : `line ${place.line + 1} of cell ${place.cell}`;
}
