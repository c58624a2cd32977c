/** The module that the Python cells of an open notebook are, with the way from each place of a cell to its own, and back. */
import type { TextDocument } from "vscode-languageserver-textdocument";
import { inCell } from "../../frameworks/text/notebook/diagnostics.ts";
import type { Position, Range } from "../../lib/lines.ts";
import { firstLine, moduleOf } from "../../lib/notebook/notebook.ts";

/** A place of one cell. */
export interface CellRange {
  readonly uri: string;
  readonly range: Range;
}

/** A notebook's cell; undefined text: it is no Python. */
export interface Cell {
  readonly uri: string;
  readonly document: TextDocument | undefined;
}

/** Asked about as a text document is, by the notebook's URI. */
export class CellModule {
  private readonly text: string;

  /** @param cells all of them, so that their numbers are those that `validate` prints */
  constructor(
    readonly uri: string,
    readonly version: number,
    readonly cells: readonly Cell[],
  ) {
    this.text = moduleOf(cells.map(({ document }) => document?.getText()));
  }

  getText(): string {
    return this.text;
  }

  /** undefined: the cell is no part of the module. */
  toModule(uri: string, { line, character }: Position): Position | undefined {
    const first = firstLine(this.text, this.cells.findIndex((cell) => cell.uri === uri) + 1);
    return first === undefined ? undefined : { line: first + line, character };
  }

  /** In the cell that the range begins in, and no further. */
  toCell(range: Range): CellRange | undefined {
    const found = inCell(this.text, range);
    const cell = found.cell === undefined ? undefined : this.cells[found.cell - 1];
    if (cell?.document === undefined) return undefined;
    const { document, uri } = cell;
    // What is written there may be longer than the cell's line: a magic is a comment of the module.
    const held = (at: Position): Position => document.positionAt(document.offsetAt(at));
    return { uri, range: { start: held(found.range.start), end: held(found.range.end) } };
  }
}
