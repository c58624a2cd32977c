/** White space as a config is written: two columns a level, lists within their key, `{ a: 1 }`, `[1, 2]`, `key: value`. */
import { piecesOf, type FormatPiece } from "./pieces.ts";

/** Characters `start` to `end` of the text, in other words. */
export interface Change {
  readonly start: number;
  readonly end: number;
  readonly text: string;
}

/** @throws Unformattable */
export function layout(text: string): Change[] {
  const eol = text.includes("\r\n") ? "\r\n" : "\n";
  const pieces = piecesOf(text);
  const columns = columnsOf(pieces, text);
  const changes: Change[] = [];
  const change = (start: number, end: number, wanted: string): void => {
    const written = wanted.replaceAll("\n", eol);
    if (text.slice(start, end) !== written) changes.push({ start, end, text: written });
  };
  pieces.forEach((piece, index) => {
    const before = pieces[index - 1];
    change(before?.end ?? bom(text), piece.start, gap(before, piece, columns[index] ?? 0, text));
    change(piece.start, piece.end, piece.text);
  });
  const last = pieces.at(-1);
  if (last !== undefined) change(last.end, text.length, endOf(text.slice(last.end), last));
  return changes;
}

/** Line breaks after a text that may keep them stay. */
const endOf = (rest: string, { kind }: FormatPiece): string =>
  kind === "block" ? rest.replaceAll("\r", "") : "\n";

const bom = (text: string): number => (text.startsWith("\ufeff") ? 1 : 0);

function gap(before: FormatPiece | undefined, piece: FormatPiece, column: number, text: string): string {
  if (before === undefined) return "";
  if (piece.breaks > 0)
    return "\n".repeat(piece.keepsBreaks ? piece.breaks : Math.min(2, piece.breaks)) + " ".repeat(column);
  switch (piece.kind) {
    case "comment":
      // Comments that somebody aligned stay aligned.
      return " ".repeat(Math.max(1, piece.start - before.end));
    case "colon":
      return before.kind === "alias" ? " " : "";
    case "comma":
      return "";
    case "close":
      return before.kind === "open" || text[piece.start] === "]" ? "" : " ";
    default:
      return before.kind === "open" && text[before.start] === "[" ? "" : " ";
  }
}

/** Of each piece that begins a line. A comment goes with the lines that it was level with. */
function columnsOf(pieces: readonly FormatPiece[], text: string): readonly number[] {
  const begins = (piece: FormatPiece, index: number): boolean => index === 0 || piece.breaks > 0;
  const isLine = (piece: FormatPiece, index: number): boolean =>
    begins(piece, index) && piece.kind !== "comment";
  const was = (piece: FormatPiece): number => piece.start - (text.lastIndexOf("\n", piece.start - 1) + 1);
  const above: FormatPiece[] = [];
  return pieces.map((piece, index) => {
    if (isLine(piece, index)) {
      // Of the lines above only those further out still enclose something.
      while (above.length > 0 && was(above.at(-1)!) >= was(piece)) above.pop();
      above.push(piece);
      return piece.column;
    }
    if (!begins(piece, index)) return piece.column;
    const next = pieces.find((other, at) => at > index && isLine(other, at));
    const own = was(piece);
    // Banners, and lines that were commented out.
    if (own === 0) return 0;
    if (next !== undefined && (own <= was(next) || above.length === 0)) return next.column;
    const level = [...above].reverse().find((line) => was(line) <= own);
    return level?.column ?? next?.column ?? 0;
  });
}

export const applied = (text: string, changes: readonly Change[]): string =>
  [...changes]
    .reverse()
    .reduce((now, { start, end, text: put }) => now.slice(0, start) + put + now.slice(end), text);
