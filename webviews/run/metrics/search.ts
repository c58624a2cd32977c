/** Finding a metric among many names: pure. */

/** Those that have every word of the query in them, names that begin with it first; else in their own order. */
export function found(names: readonly string[], query: string): readonly string[] {
  const words = query
    .toLowerCase()
    .split(/\s+/)
    .filter((word) => word !== "");
  if (words.length === 0) return names;
  const first: string[] = [];
  const rest: string[] = [];
  for (const name of names) {
    const low = name.toLowerCase();
    if (!words.every((word) => low.includes(word))) continue;
    (low.startsWith(words[0]!) ? first : rest).push(name);
  }
  return [...first, ...rest];
}
