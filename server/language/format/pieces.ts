/**
 * A document as the pieces between which a formatter may put white space. Everything that means something is a piece
 * and stays as it is; only the lines of a text over several lines are moved as well.
 */
import { Parser, type CST } from "yaml";

export interface FormatPiece {
  readonly start: number;
  readonly end: number;
  /** What is written in its place: the same, but for the indentation of texts over several lines. */
  readonly text: string;
  readonly kind: "word" | "alias" | "comment" | "colon" | "comma" | "open" | "close" | "dash" | "block";
  /** Line breaks before it. */
  readonly breaks: number;
  /** These breaks mean something: they end a text that keeps them. */
  readonly keepsBreaks: boolean;
  /** Its column if it begins a line. */
  readonly column: number;
}

/** Something unusual in a config that is better left alone. */
export class Unformattable extends Error {}

export function piecesOf(text: string): readonly FormatPiece[] {
  const reader = new PieceReader();
  for (const token of new Parser().parse(text)) {
    // Lines before the first key keep their own indentation.
    if (token.type === "space" || token.type === "newline" || token.type === "comment")
      reader.tokens([token], 0);
    else if (token.type === "document") {
      reader.tokens(token.start, 0);
      if (token.value !== undefined) reader.node(token.value, 0);
      reader.tokens(token.end ?? [], 0);
    } else if (token.type !== "doc-mode" && token.type !== "byte-order-mark")
      throw new Unformattable(token.type);
  }
  return reader.pieces;
}

const kinds: Readonly<Record<string, FormatPiece["kind"]>> = {
  comment: "comment",
  anchor: "word",
  tag: "word",
  "seq-item-ind": "dash",
  "map-value-ind": "colon",
  comma: "comma",
  "flow-map-start": "open",
  "flow-seq-start": "open",
  "flow-map-end": "close",
  "flow-seq-end": "close",
  "block-scalar-header": "word",
};

class PieceReader {
  readonly pieces: FormatPiece[] = [];
  private breaks = 0;
  private keepsBreaks = false;
  /** Column at which the present line's content begins. */
  private indent = 0;

  tokens(tokens: readonly CST.SourceToken[], column: number): void {
    for (const { type, offset, source } of tokens) {
      if (type === "space") continue;
      if (type === "newline") {
        this.breaks += 1;
        continue;
      }
      const kind = kinds[type];
      if (kind === undefined) throw new Unformattable(type);
      this.put(kind, offset, source, column);
      if (kind === "dash") this.indent = column + 2;
    }
  }

  /** @param column of the block that the node is, or where it begins a line of its own */
  node(token: CST.Token, column: number): void {
    switch (token.type) {
      case "alias":
      case "scalar":
      case "single-quoted-scalar":
      case "double-quoted-scalar":
        this.put(token.type === "alias" ? "alias" : "word", token.offset, token.source, column);
        return this.tokens(token.end ?? [], column);
      case "block-map":
        for (const { start, key, sep, value } of token.items) {
          this.tokens(start, column);
          if (key !== undefined && key !== null) this.node(key, column);
          this.tokens(sep ?? [], column + 2);
          if (value !== undefined) this.node(value, column + 2);
        }
        return;
      case "block-seq":
        for (const { start, value } of token.items) {
          this.tokens(start, column);
          if (value !== undefined) this.node(value, column + 2);
        }
        return;
      case "flow-collection":
        return this.flow(token, column);
      case "block-scalar":
        return this.block(token, column);
      default:
        throw new Unformattable(token.type);
    }
  }

  /** Lines inside are two columns further in than the line that opens; the closing bracket is below that one. */
  private flow({ start, items, end }: CST.FlowCollection, column: number): void {
    this.tokens([start], column);
    const outer = this.indent;
    for (const { start: lead, key, sep, value } of items) {
      this.tokens(lead, outer + 2);
      if (key !== undefined && key !== null) this.node(key, outer + 2);
      this.tokens(sep ?? [], outer + 2);
      if (value !== undefined) this.node(value, outer + 2);
    }
    const closing = end.findIndex(({ type }) => type === "flow-map-end" || type === "flow-seq-end");
    this.tokens(end.slice(0, closing), outer + 2);
    this.tokens(end.slice(closing, closing + 1), outer);
    this.tokens(end.slice(closing + 1), column);
  }

  /** `|` and `>`: the lines move together, the spaces after their common beginning stay. */
  private block({ props, source, offset }: CST.BlockScalar, column: number): void {
    const marks = props.filter((token): token is CST.SourceToken => "indent" in token && "source" in token);
    const header = marks.find(({ type }) => type === "block-scalar-header");
    if (header === undefined || /\d/.test(header.source)) throw new Unformattable("indentation indicator");
    this.tokens(marks, column);
    const body = source.replace(/(\r?\n[ \t]*)+$/, "");
    const trailing = source.slice(body.length);
    if (body.trim() !== "") {
      const lines = body.split(/\r?\n/);
      const common = Math.min(...lines.filter((line) => line.trim() !== "").map(leading));
      const moved = lines.map((line) =>
        line.length > common ? " ".repeat(column) + line.slice(common) : "",
      );
      const from = marks.reduce((sum, mark) => sum + mark.source.length, offset);
      this.push("block", from, from + body.length, moved.join("\n"), 0);
    } else if (body !== "") throw new Unformattable("a text of spaces");
    this.breaks = trailing.split("\n").length - 1;
    this.keepsBreaks = header.source.includes("+");
  }

  private put(kind: FormatPiece["kind"], offset: number, source: string, column: number): void {
    if (this.begins) this.indent = column;
    const further = this.begins ? column : this.indent + 2;
    const text = source
      .split(/\r?\n/)
      .map((line, index) =>
        index === 0 || line.trim() === "" ? line.trimEnd() : " ".repeat(further) + line.trimStart(),
      )
      .join("\n");
    const written = kind === "comment" ? source.trimEnd() : source.includes("\n") ? text : source;
    this.push(kind, offset, offset + source.length, written, column);
  }

  private get begins(): boolean {
    return this.breaks > 0 || this.pieces.length === 0;
  }

  private push(kind: FormatPiece["kind"], start: number, end: number, text: string, column: number): void {
    const { breaks, keepsBreaks } = this;
    this.pieces.push({ kind, start, end, text, column, breaks, keepsBreaks });
    [this.breaks, this.keepsBreaks] = [0, false];
  }
}

const leading = (line: string): number => line.length - line.trimStart().length;
