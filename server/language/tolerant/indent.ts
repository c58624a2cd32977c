/** How deep a line that holds but one word may begin: editors and people leave it anywhere. */

/** Columns of dashes and keys at which a line begins blocks, from the left. */
function columnsOf(line: string): number[] {
  const columns: number[] = [];
  let at = /^[ \t]*/.exec(line)?.[0].length ?? 0;
  for (let dash = /^-[ \t]+/.exec(line.slice(at)); dash !== null; dash = /^-[ \t]+/.exec(line.slice(at))) {
    columns.push(at);
    at += dash[0].length;
  }
  if (/^-$/.test(line.slice(at).trimEnd())) columns.push(at);
  else if (/^(?:"[^"]*"|'[^']*'|[^\s#[\]{},%@&*!|>"'][^#[\]{}]*?)\s*:(?:\s|$)/.test(line.slice(at)))
    columns.push(at);
  return columns;
}

/** Whether a line ends in a key or a dash that has nothing yet. */
const opens = (line: string): boolean => /(?::|^\s*(?:-\s+)*-)\s*(?:&\S+\s*)?(?:#.*)?$/.test(line);

const isSilent = (line: string): boolean => /^\s*(?:#.*)?$/.test(line);
const indentOf = (line: string): number => line.length - line.trimStart().length;

/** The column, of those that mean something below the lines above, that is nearest to `column`. */
export function depthAt(lines: readonly string[], at: number, column: number): number {
  let above = at - 1;
  while (above >= 0 && columnsOf(lines[above] ?? "").length === 0) above--;
  const previous = (lines[above] ?? "").replace(/\r$/, "");
  if (above < 0) return 0;
  const own = columnsOf(previous).at(-1);
  if (opens(previous) && own !== undefined && !hasValue(lines.slice(above + 1, at), own)) {
    const child = childDepth(lines, at, own, column);
    if (child !== undefined) return child;
  }
  const open = openAbove(lines, above);
  return open.reduce((best, each) => (distance(each, column) < distance(best, column) ? each : best), 0);
}

/** Whether one of the lines below a key at `own` begins what it has, in brackets or quotes. */
const hasValue = (lines: readonly string[], own: number): boolean =>
  lines.some((line) => indentOf(line) > own && /^\s*[[{"']/.test(line));

/** Of two that are as near, the deeper. */
const distance = (each: number, column: number): number => Math.abs(each - column) - each / 1000;

/**
 * Below a key or a dash with nothing yet, where its block goes on below; where none does, the place decides. A step
 * in between is for a key that is to hold that block.
 */
function childDepth(lines: readonly string[], at: number, own: number, column: number): number | undefined {
  let below = at + 1;
  while (below < lines.length && isSilent(lines[below] ?? "")) below++;
  const next = below < lines.length ? indentOf(lines[below] ?? "") : -1;
  if (next <= own) return column > own ? column : undefined;
  return column >= own + step && column + step <= next && (column - own) % step === 0 ? column : next;
}
const step = 2;

/** The columns of all blocks that are open at the end of a line. */
function openAbove(lines: readonly string[], from: number): number[] {
  const open: number[] = [];
  for (let at = from; at >= 0 && open.at(-1) !== 0; at--) {
    const line = (lines[at] ?? "").replace(/\r$/, "");
    const least = open.at(-1) ?? Number.POSITIVE_INFINITY;
    open.push(
      ...columnsOf(line)
        .filter((column) => column < least)
        .reverse(),
    );
  }
  return open;
}
