/** Everything that has one sensible mend, mended: what `source.fixAll` does to a text. */
import type { Diagnostic, Fix } from "../config/check/diagnostic.ts";
import { applyEdits, touch } from "../config/text/textEdits.ts";
import { loadConfig } from "./load.ts";

/** What one mend uncovers the next round mends; more rounds than these would be two mends that undo each other. */
const rounds = 8;

export const mendAll = (file: string, text: string): string =>
  mendRounds(text, (now) => loadConfig(file, { text: now }).diagnostics);

/** Mends what `check` finds, and what that uncovers, until nothing is left to mend. */
export function mendRounds(
  text: string,
  check: (text: string) => readonly Pick<Diagnostic, "fixes">[],
): string {
  const seen = [text];
  for (let round = 0; round < rounds; round++) {
    const now = seen.at(-1) ?? text;
    const edits = sensible(check(now)).flatMap(({ edits }) => [...edits]);
    const next = applyEdits(now, edits);
    if (seen.includes(next)) return now;
    seen.push(next);
  }
  return text;
}

/** The preferred mends that do not touch each other's text. */
export function sensible(findings: readonly Pick<Diagnostic, "fixes">[]): Fix[] {
  const chosen: Fix[] = [];
  for (const { fixes } of findings) {
    const [fix] = fixes.filter(({ preferred }) => preferred === true);
    const taken = chosen.flatMap(({ edits }) => edits);
    if (fix !== undefined && !fix.edits.some((edit) => taken.some((other) => touch(edit.range, other.range))))
      chosen.push(fix);
  }
  return chosen;
}
