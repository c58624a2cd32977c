/** What a document of rollouts is made of: lines, with places for folding, outline and colour. Pure. */
import { signOfCriterion, criterionText, metCount } from "../../../shared/rollouts/criteria.ts";
import { formatNumber, plural } from "../../../shared/lib/format.ts";
import { fromWire, type RolloutRow, type WireReward } from "../../../shared/rollouts/rollouts.ts";

export interface Fold {
  readonly from: number;
  readonly to: number;
  /** Folded when the document is first shown. */
  readonly closed?: boolean;
}
export interface Heading {
  readonly line: number;
  readonly end: number;
  readonly name: string;
  readonly detail: string;
  readonly children: readonly Heading[];
}
export type Sign = "positive" | "negative" | "error" | "given" | "heading" | "quiet";
/** A piece of a line whose sign is worth a colour. */
export interface Mark {
  readonly line: number;
  readonly from: number;
  readonly to: number;
  readonly sign: Sign;
}
/** Where a line of a response lies in the document. */
export interface TextLine {
  /** UTF-16 units of the response before it. */
  readonly offset: number;
  readonly length: number;
  readonly line: number;
  readonly margin: number;
}

/** A document as it was written, for an editor to show. */
export interface Written {
  readonly text: string;
  readonly folds: readonly Fold[];
  readonly headings: readonly Heading[];
  readonly marks: readonly Mark[];
}

interface Piece {
  readonly text: string;
  readonly sign?: Sign | undefined;
}

export class Writer {
  readonly lines: string[] = [];
  readonly folds: Fold[] = [];
  readonly marks: Mark[] = [];

  get line(): number {
    return this.lines.length;
  }
  write(text = "", sign?: Sign): void {
    if (sign !== undefined && text !== "")
      this.marks.push({ line: this.line, from: 0, to: text.length, sign });
    this.lines.push(text);
  }
  /** Writes pieces in a row; a piece with a sign is marked, without the blanks that align it. */
  pieces(indent: string, parts: readonly Piece[], gap = "   "): void {
    let text = indent;
    parts.forEach((part, i) => {
      if (i > 0) text += gap;
      const shown = part.text.trimEnd();
      const from = text.length + shown.length - shown.trimStart().length;
      if (part.sign !== undefined)
        this.marks.push({ line: this.line, from, to: text.length + shown.length, sign: part.sign });
      text += part.text;
    });
    this.write(text.trimEnd());
  }
  written(headings: readonly Heading[] = []): Written {
    const { lines, folds, marks } = this;
    return { text: `${lines.join("\n")}\n`, folds, headings, marks };
  }
  fold(from: number, closed = false): void {
    if (this.line - 1 > from) this.folds.push({ from, to: this.line - 1, ...(closed && { closed }) });
  }
}

/** What the editor breaks lines at. */
export const lineEnd = /\r\n|\r|\n/;
const everyLineEnd = new RegExp(lineEnd, "g");
/** The editor stops to draw a line after 10,000 characters. */
const longestLine = 5_000;

/**
 * Line ends are made visible: whether a response ends in one is often what a reward turns on.
 * @param offset UTF-16 units of the whole response before this text
 * @returns where its lines are
 */
export function writeText(writer: Writer, margin: string, text: string, offset = 0): TextLine[] {
  const written: TextLine[] = [];
  const one = (from: number, to: number, end: string): void => {
    written.push({ offset: offset + from, length: to - from, line: writer.line, margin: margin.length });
    // Line separators of Unicode would be asked about by the editor.
    writer.write(`${margin}${text.slice(from, to).replace(/[\u2028\u2029]/g, "⏎")}${end}`);
  };
  if (text === "") writer.write(`${margin}(empty)`);
  let at = 0;
  for (const found of [...text.matchAll(everyLineEnd), undefined]) {
    const to = found?.index ?? text.length;
    for (; to - at > longestLine; at = breakBefore(text, at)) one(at, breakBefore(text, at), "↩");
    if (found !== undefined || to > at) one(at, to, found === undefined ? "" : "⏎");
    at = to + (found?.[0].length ?? 0);
  }
  return written;
}

/** A place after a blank where there is one, and within no character. */
function breakBefore(text: string, from: number): number {
  const blank = text.lastIndexOf(" ", from + longestLine - 1);
  if (blank > from) return blank + 1;
  const at = from + longestLine;
  return /[\uD800-\uDBFF]/.test(text[at - 1]!) ? at - 1 : at;
}

export const signOf = (value: number): Sign | undefined =>
  value > 0 ? "positive" : value < 0 ? "negative" : undefined;

export const oneLine = (text: string): string => text.replace(/\s+/g, " ").trim();

export function rewardText(value: WireReward): string {
  if (value === null) return "n/a";
  if (typeof value !== "object") return formatNumber(Number(value));
  const finite = value.values.map(fromWire).filter((each) => Number.isFinite(each));
  const sum = finite.reduce((a, b) => a + b, 0);
  return `${formatNumber(sum)} over ${plural(value.values.length, value.level)}`;
}

export const rewardSign = (value: WireReward): Sign | undefined =>
  value !== null && typeof value !== "object" && Number(value) < 0 ? "negative" : undefined;

export const finishText = ({ finish }: RolloutRow): string =>
  finish === "length" ? "truncated" : (finish ?? "");

/** Folded to how many of them are met. */
export function writeCriteria(writer: Writer, { details = {} }: RolloutRow, indent: string): void {
  for (const [term, { criteria }] of Object.entries(details)) {
    const from = writer.line;
    writer.write(`${indent}${term}: ${metCount(criteria)}`);
    for (const criterion of criteria) {
      const sign = signOfCriterion(criterion);
      writer.pieces(`${indent}  `, [
        {
          text: oneLine(criterionText(criterion)),
          ...(sign !== 0 && { sign: sign > 0 ? ("positive" as const) : ("negative" as const) }),
        },
      ]);
    }
    writer.fold(from);
  }
}
