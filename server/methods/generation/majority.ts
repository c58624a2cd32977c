/** Self-consistency: the answer that most attempts give. */
import { TextPattern } from "../../lib/texts/textPattern.ts";
import { extracted } from "./pattern.ts";

/** null: too few agree. Attempts without an answer count among those that do not. Of equals, the one that came first. */
export function majority(
  attempts: readonly string[],
  { pattern, at_least }: { readonly pattern: string; readonly at_least: number },
): string | null {
  const form = new TextPattern(pattern);
  const votes = new Map<string, number>();
  for (const attempt of attempts) {
    const answer = extracted(attempt.trim(), form);
    if (answer !== null) votes.set(answer, (votes.get(answer) ?? 0) + 1);
  }
  const [best] = [...votes].sort(([, a], [, b]) => b - a);
  return best !== undefined && best[1] / attempts.length >= at_least ? best[0] : null;
}
