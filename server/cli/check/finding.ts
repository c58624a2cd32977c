/** The order of what `gradus check` says. */
import type { Finding } from "../../../shared/editor/folderSum.ts";

const ranks: Readonly<Record<Finding["severity"], number>> = { error: 0, warning: 1, info: 2 };
/** Of equal severity: what a training came to, what a reward pays, what a key says. */
const orders: Readonly<Record<Finding["by"], number>> = { log: 0, reward: 1, validate: 2 };

/** Worst first; of the same kind in the order of the files and their lines. */
export const worstFirst = (findings: readonly Finding[]): readonly Finding[] =>
  findings.toSorted(
    (a, b) =>
      ranks[a.severity] - ranks[b.severity] ||
      orders[a.by] - orders[b.by] ||
      (a.file < b.file ? -1 : a.file > b.file ? 1 : 0) ||
      (a.cell ?? 0) - (b.cell ?? 0) ||
      (a.line ?? 0) - (b.line ?? 0),
  );
