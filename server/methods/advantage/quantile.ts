/** Order statistics of small sets. */

/**
 * The q-quantile of some values; 0.5 is the median. `linear` between neighbours, or `lower`: the least value that a share
 * of at least q does not exceed, so always one of them.
 */
export function quantile(
  values: readonly number[],
  q: number,
  between: "linear" | "lower" = "linear",
): number {
  const sorted = [...values].sort((a, b) => a - b);
  // A share such as 0.4 · 5 must not become 2.0000000000000004.
  if (between === "lower") return sorted[Math.max(0, Math.ceil(q * sorted.length - 1e-9) - 1)]!;
  const place = q * (sorted.length - 1);
  const below = Math.floor(place);
  const [low, high] = [sorted[below]!, sorted[Math.min(below + 1, sorted.length - 1)]!];
  return low + (high - low) * (place - below);
}
