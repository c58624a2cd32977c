/** Runs of n items in a row, by the place where each begins. */

/** A number for each n-gram, the same for equal ones. Empty where there are fewer than n items. */
export function numberedNgrams(items: readonly (string | number)[], n: number): number[] {
  const known = new Map<string, number>();
  return Array.from({ length: Math.max(0, items.length - n + 1) }, (_, start) => {
    const key = items.slice(start, start + n).join("\u0000");
    const number = known.get(key) ?? known.size;
    known.set(key, number);
    return number;
  });
}

/** By n-gram, as often as it occurs. */
export function ngramCounts(items: readonly string[], n: number): ReadonlyMap<string, number> {
  const counts = new Map<string, number>();
  for (let start = 0; start + n <= items.length; start++) {
    const key = items.slice(start, start + n).join("\u0000");
    counts.set(key, (counts.get(key) ?? 0) + 1);
  }
  return counts;
}

/** Of two tables, what they have in common, and how many each has in all. */
export function overlapOf(
  one: ReadonlyMap<string, number>,
  other: ReadonlyMap<string, number>,
): { readonly common: number; readonly first: number; readonly second: number } {
  const size = (table: ReadonlyMap<string, number>): number => [...table.values()].reduce((a, b) => a + b, 0);
  let common = 0;
  for (const [key, count] of one) common += Math.min(count, other.get(key) ?? 0);
  return { common, first: size(one), second: size(other) };
}

export const wordsOf = (text: string): string[] => text.split(/\s+/).filter((word) => word !== "");
