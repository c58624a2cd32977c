/** Where a notebook's file holds the text of its cells: an edit of a cell leaves every other byte as it is. */
import { LineTable, type Range } from "../lines.ts";

/** A text of JSON, without its quotes. */
interface Literal {
  readonly start: number;
  readonly end: number;
}

/** A cell's text, and where in the file each of its letters is, and its end. */
interface CellText {
  readonly lines: LineTable;
  readonly offsets: readonly number[];
}

export class CellTexts {
  private readonly sources: readonly (readonly Literal[])[];
  private readonly lines: LineTable;
  private readonly read = new Map<number, CellText>();

  /** @param text of a notebook that `readNotebook` takes */
  constructor(private readonly text: string) {
    this.sources = sourcesIn(text);
    this.lines = new LineTable(text);
  }

  /** The range of the file at which a range of a cell is written. @param cell counted from 1 */
  range(cell: number, { start, end }: Range): Range | undefined {
    const { lines, offsets } = this.cell(cell);
    const [from, to] = [offsets[lines.offset(start)], offsets[lines.offset(end)]];
    return from === undefined || to === undefined ? undefined : this.lines.between(from, to);
  }

  private cell(cell: number): CellText {
    const known = this.read.get(cell);
    if (known !== undefined) return known;
    const literals = this.sources[cell - 1] ?? [];
    const offsets = literals.flatMap(({ start, end }) => this.letters(start, end));
    const letters = offsets.map((at) => decoded(this.letterAt(at)));
    const last = literals.at(-1);
    const made = {
      lines: new LineTable(letters.join("")),
      offsets: last === undefined ? [] : [...offsets, last.end],
    };
    this.read.set(cell, made);
    return made;
  }

  private letters(start: number, end: number): number[] {
    const found: number[] = [];
    for (let at = start; at < end; at += this.letterAt(at).length) found.push(at);
    return found;
  }

  /** With its escape: `\n`, `é`. */
  private letterAt(at: number): string {
    if (this.text[at] !== "\\") return this.text[at] ?? "";
    return this.text.slice(at, at + (this.text[at + 1] === "u" ? 6 : 2));
  }
}

const decoded = (letter: string): string =>
  letter.startsWith("\\") ? String(JSON.parse(`"${letter}"`)) : letter;

/** As the file would hold it. */
export const inJson = (text: string): string => JSON.stringify(text).slice(1, -1);

/** What is open around a place of the JSON. */
interface Open {
  readonly kind: "{" | "[";
  /** Of a map: the key whose value comes. */
  key: string;
}

/** The texts of each cell's `source`. The JSON is known to be right. */
function sourcesIn(text: string): Literal[][] {
  const cells: Literal[][] = [];
  const open: Open[] = [];
  const sign = /["{}[\]]/g;
  for (let found = sign.exec(text); found !== null; found = sign.exec(text)) {
    const [letter] = found;
    if (letter === "}" || letter === "]") open.pop();
    else if (letter === '"') {
      const literal = { start: found.index + 1, end: endOf(text, found.index + 1) };
      sign.lastIndex = literal.end + 1;
      place(text, literal, open, cells);
    } else {
      if (letter === "{" && isWithin(open, "cells") && open.length === 2) cells.push([]);
      open.push({ kind: letter === "{" ? "{" : "[", key: "" });
    }
  }
  return cells;
}

const isWithin = (open: readonly Open[], key: string): boolean => open[0]?.key === key;

/** A key, or one of the texts of a cell's source. Of a key that comes twice, JSON takes the last. */
function place(text: string, literal: Literal, open: readonly Open[], cells: Literal[][]): void {
  const inner = open.at(-1);
  const isKey = inner?.kind === "{" && /\s*:/y.test(text.slice(literal.end + 1, literal.end + 64));
  if (inner !== undefined && isKey) {
    inner.key = text.slice(literal.start, literal.end);
    if (open.length === 1 && inner.key === "cells") cells.length = 0;
    if (isWithin(open, "cells") && open.length === 3 && inner.key === "source") cells.at(-1)?.splice(0);
  } else if (
    isWithin(open, "cells") &&
    open[2]?.key === "source" &&
    open.length <= 4 &&
    open[3]?.kind !== "{"
  )
    cells.at(-1)?.push(literal);
}

/** Where the text's last quote is. */
function endOf(text: string, start: number): number {
  let at = text.indexOf('"', start);
  while (at >= 0 && isEscaped(text, start, at)) at = text.indexOf('"', at + 1);
  return at < 0 ? text.length : at;
}

/** An odd number of backslashes before it. */
function isEscaped(text: string, start: number, at: number): boolean {
  let first = at;
  while (first > start && text[first - 1] === "\\") first -= 1;
  return (at - first) % 2 === 1;
}
