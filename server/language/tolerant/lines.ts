/** The lines of a half-written text: which of them say something, and what they begin with. */
import { firstWhere } from "../../../shared/lib/firstWhere.ts";
import { startOfFile, TextOrigin, type Origin } from "../../config/text/node.ts";
import type { Position, Range } from "../../lib/lines.ts";
import { closingQuote, colonEndsKey, endOfLine, plainEnd, unquoted } from "./scalars.ts";
import type { Watch } from "./watch.ts";

export interface SourceLine {
  /** Offsets: of the line, of what is in it, and of its end. */
  readonly from: number;
  readonly start: number;
  readonly to: number;
}
export const columnOf = ({ from, start }: SourceLine): number => start - from;

export interface Key {
  readonly name: string;
  readonly start: number;
  readonly end: number;
  /** Behind the colon. */
  readonly after: number;
}

export class LineReader {
  protected readonly lines: readonly SourceLine[];
  /** The line that is read next. */
  protected line = 0;

  constructor(
    protected readonly text: string,
    private readonly base: Omit<Origin, "range">,
    protected readonly watch: Watch,
  ) {
    this.lines = linesOf(text);
  }

  /** The next line that says something. */
  protected peek(): SourceLine | undefined {
    for (; this.line < this.lines.length; this.line++) {
      const line = this.lines[this.line];
      if (line !== undefined && line.start < line.to && !this.silent(line) && !this.isNonsense(line))
        return line;
    }
    return undefined;
  }

  /** A line that is not deeper than the one before has to begin something. */
  protected isNonsense(line: SourceLine): boolean {
    const above = this.lines[this.line - 1];
    const isText = above !== undefined && above.start < above.to && columnOf(line) > columnOf(above);
    return !isText && !this.begins(line);
  }

  protected begins({ start, to }: SourceLine): boolean {
    if (this.isDash(start) || "[{\"'*&!|>?".includes(this.text[start] ?? "")) return true;
    if (this.keyAt(start, to) !== undefined || this.watch.within(start, to)) return true;
    return /^[\w./+-][\w./@+-]*\s*(?:#|$)/.test(this.text.slice(start, to));
  }

  /** The next line that is deeper than `column`: text only where nothing else is. */
  protected below(column: number): SourceLine | undefined {
    for (;;) {
      const next = this.peek();
      if (next === undefined || columnOf(next) <= column || this.begins(next)) return next;
      const at = this.line++;
      const after = this.peek();
      if (after !== undefined && columnOf(after) > column && this.begins(after)) continue;
      this.line = at;
      return next;
    }
  }

  protected silent({ from, start, to }: SourceLine): boolean {
    if (this.text[start] === "#") return true;
    return start === from && /^(?:---|\.\.\.|%\w)/.test(this.text.slice(start, Math.min(to, start + 4)));
  }

  protected current(): SourceLine {
    return this.lines[this.line] ?? { from: this.text.length, start: this.text.length, to: this.text.length };
  }

  protected isDash(at: number): boolean {
    return this.text[at] === "-" && /^(?:\s|$)/.test(this.text.slice(at + 1, at + 2));
  }

  protected keyAt(start: number, to = this.current().to): Key | undefined {
    const c = this.text[start] ?? "";
    if (c === "" || "[]{},#&*!|>%@`".includes(c)) return undefined;
    const quoted = c === '"' || c === "'";
    const close = quoted ? closingQuote(this.text, start, to) : 0;
    if (close < 0) return undefined;
    const end = quoted ? close + 1 : plainEnd(this.text, start, to, false);
    let colon = end;
    while (colon < to && /[ \t]/.test(this.text[colon] ?? "")) colon++;
    if (this.text[colon] !== ":" || !colonEndsKey(this.text, colon, false)) return undefined;
    const name = quoted ? unquoted(this.text.slice(start + 1, close), c) : this.text.slice(start, end);
    return { name, start, end, after: colon + 1 };
  }

  /** The end of the lines that lie deeper than `parent`, or close a bracket. */
  protected regionEnd(parent: number): number {
    let last = this.current().to;
    for (let at = this.line + 1; at < this.lines.length; at++) {
      const line = this.lines[at];
      if (line === undefined) break;
      if (line.start >= line.to || this.text[line.start] === "#") continue;
      const closes = "]}".includes(this.text[line.start] ?? "");
      if (columnOf(line) <= parent && !closes) {
        if (!this.begins(line)) continue;
        break;
      }
      last = line.to;
      if (columnOf(line) <= parent) break;
    }
    return last;
  }

  /** To the first line after an offset. */
  protected skipTo(offset: number): void {
    while (this.line < this.lines.length && this.current().to < offset) this.line++;
    this.line++;
  }

  protected endBefore(): number {
    return this.lines[Math.max(0, this.line - 1)]?.to ?? this.text.length;
  }

  protected originAt(start: number, end: number): Origin {
    return new TextOrigin(this.base, start, end, this.rangeOf);
  }

  protected readonly rangeOf = (start: number, end: number): Range => ({
    start: this.positionOf(start),
    end: this.positionOf(end),
  });

  protected positionOf(offset: number): Position {
    const { lines } = this;
    const line = Math.max(0, firstWhere(lines.length, (at) => lines[at]!.from > offset) - 1);
    const from = lines[line]?.from;
    return from === undefined ? startOfFile.start : { line, character: offset - from };
  }
}

function linesOf(text: string): SourceLine[] {
  const lines: SourceLine[] = [];
  let from = text.startsWith("\uFEFF") ? 1 : 0;
  while (from <= text.length) {
    const feed = text.indexOf("\n", from);
    const next = feed < 0 ? text.length + 1 : feed + 1;
    const to = endOfLine(text, from);
    let start = from;
    while (start < to && /[ \t]/.test(text[start] ?? "")) start++;
    lines.push({ from, start, to });
    from = next;
  }
  return lines;
}
