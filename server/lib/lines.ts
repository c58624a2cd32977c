/** Offsets of a text as lines and characters, counted as the Language Server Protocol does: `\n`, `\r\n` and `\r` end a line. */
import { firstWhere } from "../../shared/lib/firstWhere.ts";

export class LineTable {
  private readonly starts: readonly number[];

  constructor(protected readonly text: string) {
    const starts = [0];
    for (const { index, 0: lineBreak } of text.matchAll(/\r\n?|\n/g)) starts.push(index + lineBreak.length);
    this.starts = starts;
  }

  /** A position inside a line break does not exist: the end of its line is the nearest. */
  position(offset: number): Position {
    const held = Math.max(0, Math.min(offset, this.text.length));
    const line = firstWhere(this.starts.length, (at) => this.starts[at]! > held) - 1;
    const inBreak = this.text[held] === "\n" && this.text[held - 1] === "\r";
    return { line, character: held - this.starts[line]! - (inBreak ? 1 : 0) };
  }

  between(start: number, end: number): Range {
    return { start: this.position(start), end: this.position(end) };
  }

  offset({ line, character }: Position): number {
    const start = this.starts[line];
    if (start === undefined) return this.text.length;
    return Math.min(start + character, this.starts[line + 1] ?? this.text.length);
  }
}

/** LSP positions: 0-based lines and UTF-16 characters. */
export interface Position {
  readonly line: number;
  readonly character: number;
}

export interface Range {
  readonly start: Position;
  readonly end: Position;
}
