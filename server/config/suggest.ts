/** "Did you mean": the nearest of what is allowed. */

/** Damerau–Levenshtein distance (adjacent transpositions count once). */
export function editDistance(a: string, b: string): number {
  const rows = Array.from({ length: a.length + 1 }, (_, i) =>
    Array.from({ length: b.length + 1 }, (_, j) => (i === 0 ? j : j === 0 ? i : 0)),
  );
  const at = (i: number, j: number): number => rows[i]?.[j] ?? 0;
  for (let i = 1; i <= a.length; i++) {
    for (let j = 1; j <= b.length; j++) {
      const same = a[i - 1] === b[j - 1] ? 0 : 1;
      let best = Math.min(at(i - 1, j) + 1, at(i, j - 1) + 1, at(i - 1, j - 1) + same);
      if (i > 1 && j > 1 && a[i - 1] === b[j - 2] && a[i - 2] === b[j - 1])
        best = Math.min(best, at(i - 2, j - 2) + 1);
      const row = rows[i];
      if (row !== undefined) row[j] = best;
    }
  }
  return at(a.length, b.length);
}

const plain = (text: string): string => text.toLowerCase().replaceAll(/[-_ ]/g, "");

/** The nearest candidate, when it is near enough to be what was meant. */
export function nearest(word: string, candidates: readonly string[]): string | undefined {
  const wanted = plain(word);
  if (wanted === "") return undefined;
  const scored = candidates.map((candidate) => ({
    candidate,
    distance: editDistance(wanted, plain(candidate)),
  }));
  scored.sort((a, b) => a.distance - b.distance || a.candidate.localeCompare(b.candidate));
  const best = scored[0];
  if (
    best !== undefined &&
    best.distance <= Math.max(1, Math.floor(Math.max(wanted.length, plain(best.candidate).length) / 3))
  )
    return best.candidate;
  const beginning = candidates.filter(
    (candidate) =>
      wanted.length >= 3 && (plain(candidate).startsWith(wanted) || wanted.startsWith(plain(candidate))),
  );
  return beginning.length === 1 ? beginning[0] : undefined;
}

/** `a, b or c`, each in backticks; long lists end in "…". */
export function listed(words: readonly string[], most = 30): string {
  if (words.length === 0) return "nothing";
  const shown = words.slice(0, most).map((word) => `\`${word}\``);
  if (words.length > most) return `${shown.join(", ")}, …`;
  return shown.length === 1 ? shown.join("") : `${shown.slice(0, -1).join(", ")} or ${shown.at(-1)}`;
}
