/** Runs of tokens for which something holds. */
import type { Span } from "../../../shared/rollouts/why.ts";

/** Runs among the tokens [start, end), relative to `start`. */
export function spansOf(start: number, end: number, holds: (token: number) => boolean): Span[] {
  const spans: Span[] = [];
  let from = -1;
  for (let i = start; i <= end; i++) {
    const inside = i < end && holds(i);
    if (inside && from < 0) from = i;
    if (inside || from < 0) continue;
    spans.push([from - start, i - start]);
    from = -1;
  }
  return spans;
}
