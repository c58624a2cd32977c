/** "Did you mean": the nearest of what is allowed. */
import { perObject } from "./perObject.ts";

/**
 * Damerau–Levenshtein distance (adjacent transpositions count once); from `most` on only that it is beyond: a config
 * may have ten thousand unknown words.
 */
export function editDistance(a: string, b: string, most = Number.POSITIVE_INFINITY): number {
  if (Math.abs(a.length - b.length) > most) return Number.POSITIVE_INFINITY;
  const width = b.length + 1;
  let [twoAbove, above, row] = [new Uint32Array(width), new Uint32Array(width), new Uint32Array(width)];
  for (let j = 0; j < width; j++) above[j] = j;
  for (let i = 1; i <= a.length; i++) {
    row[0] = i;
    let least = i;
    for (let j = 1; j < width; j++) {
      const same = a[i - 1] === b[j - 1] ? 0 : 1;
      let best = Math.min(above[j]! + 1, row[j - 1]! + 1, above[j - 1]! + same);
      if (i > 1 && j > 1 && a[i - 1] === b[j - 2] && a[i - 2] === b[j - 1])
        best = Math.min(best, twoAbove[j - 2]! + 1);
      row[j] = best;
      least = Math.min(least, best);
    }
    // What follows grows from this row, or by a transposition from the one above it.
    if (least > most && Math.min(...above) > most) return Number.POSITIVE_INFINITY;
    [twoAbove, above, row] = [above, row, twoAbove];
  }
  return above[b.length]!;
}

const plain = (text: string): string => text.toLowerCase().replaceAll(/[-_ ]/g, "");

/** Of a list that is asked about again and again. */
const plainly = perObject((candidates: readonly string[]) => candidates.map(plain));

/** The nearest candidate, when it is near enough to be what was meant. */
export function nearest(word: string, candidates: readonly string[]): string | undefined {
  const wanted = plain(word);
  if (wanted === "") return undefined;
  const plains = plainly(candidates);
  let best: { readonly candidate: string; readonly distance: number } | undefined;
  for (const [index, candidate] of candidates.entries()) {
    const text = plains[index]!;
    const near = Math.max(1, Math.floor(Math.max(wanted.length, text.length) / 3));
    const distance = editDistance(wanted, text, Math.min(near, best?.distance ?? near));
    if (distance > near) continue;
    const isNearer =
      best === undefined ||
      distance < best.distance ||
      (distance === best.distance && candidate.localeCompare(best.candidate) < 0);
    if (isNearer) best = { candidate, distance };
  }
  if (best !== undefined) return best.candidate;
  const beginning = candidates.filter(
    (_, index) =>
      wanted.length >= 3 && (plains[index]!.startsWith(wanted) || wanted.startsWith(plains[index]!)),
  );
  return beginning.length === 1 ? beginning[0] : undefined;
}

/** `a, b or c`, each in backticks; long lists end in "…". */
export function listed(words: readonly string[], most = 30): string {
  if (words.length === 0) return "nothing";
  const quoted = words.slice(0, most).map((word) => `\`${word}\``);
  if (words.length > most) return `${quoted.join(", ")}, …`;
  return quoted.length === 1 ? quoted.join("") : `${quoted.slice(0, -1).join(", ")} or ${quoted.at(-1)}`;
}
