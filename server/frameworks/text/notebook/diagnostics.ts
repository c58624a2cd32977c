/** Diagnostics of a notebook: found in its module, shown at a cell and its line, fixed in its file. */
import type { Diagnostic, Fix, TextEdit } from "../../../config/check/diagnostic.ts";
import type { Range } from "../../../lib/lines.ts";
import { CellTexts, inJson } from "../../../lib/notebook/cellText.ts";
import { cellLine } from "../../../lib/notebook/notebook.ts";

interface InCell {
  readonly cell?: number;
  readonly range: Range;
}

/** A module's range as one of the cell that it begins in; of any other text, the range itself. */
export function inCell(module: string, { start, end }: Range): InCell {
  const [first, last] = [cellLine(module, start.line), cellLine(module, end.line)];
  if (first === undefined) return { range: { start, end } };
  const { cell, line } = first;
  // The line before a cell is ours: the cell ends there.
  const after = line + end.line - start.line;
  const isSame = last?.cell === cell;
  return {
    cell,
    range: {
      start: { line, character: start.character },
      end: { line: after, character: isSame ? end.character : 0 },
    },
  };
}

/** Places of the module that a configuration was read from as places of its cells. */
export const inCells = (module: string, diagnostic: Diagnostic): Diagnostic => ({
  ...diagnostic,
  ...inCell(module, diagnostic.range),
  fixes: fixesWithin(module, diagnostic).map((fix): Fix => ({
    ...fix,
    edits: fix.edits.map((edit) => ({ ...edit, ...inCell(module, edit.range) })),
  })),
  ...(diagnostic.related && {
    related: diagnostic.related.map((other) =>
      other.file === diagnostic.file ? { ...other, ...inCell(module, other.range) } : other,
    ),
  }),
});

/** Those that change nothing between cells. */
export const fixesWithin = (module: string, { fixes }: Pick<Diagnostic, "fixes">): readonly Fix[] =>
  fixes.filter(({ edits }) => edits.every((edit) => isOfOne(module, edit)));

/** An edit may take a cell's last line, and nothing of the cell below. */
function isOfOne(module: string, { range: { start, end } }: TextEdit): boolean {
  const [first, last] = [cellLine(module, start.line), cellLine(module, end.line)];
  if (first?.cell === last?.cell) return true;
  return last?.line === 0 && end.character === 0 && cellLine(module, end.line - 1)?.cell === first?.cell;
}

/** The same at the lines of the notebook's own file, where its edits are JSON. @param text of the file */
export function inFile(text: string, diagnostics: readonly Diagnostic[]): readonly Diagnostic[] {
  const texts = new CellTexts(text);
  const whole = { start: { line: 0, character: 0 }, end: { line: 0, character: 0 } };
  const written = ({ cell, range }: InCell): Range | undefined =>
    cell === undefined ? undefined : texts.range(cell, range);
  const fixed = (fix: Fix): readonly Fix[] => {
    const edits = fix.edits.flatMap((edit) => {
      const range = written(edit);
      return range === undefined ? [] : [{ range, newText: inJson(edit.newText) }];
    });
    return edits.length === fix.edits.length ? [{ ...fix, edits }] : [];
  };
  return diagnostics.map((diagnostic) => ({
    ...diagnostic,
    range: written(diagnostic) ?? whole,
    fixes: diagnostic.fixes.flatMap(fixed),
    ...(diagnostic.related && {
      related: diagnostic.related.map((other) => ({ ...other, range: written(other) ?? other.range })),
    }),
  }));
}
