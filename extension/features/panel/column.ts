/** In which column of the editor a run opens. Pure. */

interface Columns {
  /** Of the runs that are open; undefined: in a window of its own. */
  readonly runs: readonly (number | undefined)[];
  /** Of the groups of tabs other than the active one. */
  readonly others: readonly number[];
  /** A text is being edited, which the run must not cover. */
  readonly text: boolean;
}

/** Runs are tabs of one group: where another one is, else next to the text. There is never a third column for one. */
export function columnOf(
  { runs, others, text }: Columns,
  special: { readonly Active: number; readonly Beside: number },
): number {
  const shared = runs.find((column) => column !== undefined);
  if (shared !== undefined) return shared;
  return text ? (others[0] ?? special.Beside) : special.Active;
}
