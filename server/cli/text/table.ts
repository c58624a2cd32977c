/** Columns of text under a head. Pure. */
import { columnsOf } from "./terminal.ts";

export interface Column {
  readonly head: string;
  readonly align?: "right";
}

const gap = "  ";
const padded = (text: string, width: number, align: Column["align"]): string => {
  const space = " ".repeat(Math.max(0, width - columnsOf(text)));
  return align === "right" ? space + text : text + space;
};

/** Columns that are empty in every row are left out. @returns the head's line, then a line a row */
export function tableLines(columns: readonly Column[], rows: readonly (readonly string[])[]): string[] {
  const used = columns.flatMap((_, at) => (rows.some((row) => (row[at] ?? "") !== "") ? [at] : []));
  const widths = used.map((at) =>
    Math.max(columnsOf(columns[at]!.head), ...rows.map((row) => columnsOf(row[at] ?? ""))),
  );
  const line = (cells: readonly string[]): string =>
    used
      .map((at, place) => padded(cells[at] ?? "", widths[place]!, columns[at]!.align))
      .join(gap)
      .trimEnd();
  return [line(columns.map(({ head }) => head)), ...rows.map(line)];
}
