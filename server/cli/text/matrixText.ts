/** What became of every stage's tasks, as a table: a row a stage's tasks, a column what was measured after a stage. */
import { matrixRows, measureOf } from "../../../shared/metrics/matrix.ts";
import type { StageEnd } from "../../../shared/protocol/protocol.ts";

const signed = (value: number): string => `${value < 0 ? "−" : "+"}${Math.abs(value).toFixed(3)}`;

/** Lines of the table; none where nothing was measured. The value at a stage's own end is in brackets. */
export function matrixText(ends: readonly StageEnd[]): string[] {
  if (ends.length === 0) return [];
  const measure = measureOf(ends);
  const cells = matrixRows(ends, measure).map(({ stage, values, change }) => [
    stage,
    ...values.map((value, index) => {
      const text = value === null ? "" : value.toFixed(3);
      return ends[index]!.stage === stage ? `[${text}]` : text;
    }),
    change === null ? "" : signed(change),
  ]);
  const head = [measure, ...ends.map(({ stage }) => `after ${stage}`), "change"];
  const widths = head.map((text, column) =>
    Math.max(text.length, ...cells.map((row) => row[column]?.length ?? 0)),
  );
  const line = (row: readonly string[]): string =>
    row
      .map((text, column) => (column === 0 ? text.padEnd(widths[column]!) : text.padStart(widths[column]!)))
      .join("  ")
      .trimEnd();
  return ["matrix      held-out tasks of each stage, as each stage ended", line(head), ...cells.map(line)];
}
