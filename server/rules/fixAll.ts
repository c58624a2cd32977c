/** Applies every preferred fix: what `source.fixAll` does to a text. */
import { firstWhere } from "../../shared/lib/firstWhere.ts";
import type { Diagnostic, Fix, TextEdit } from "../config/check/diagnostic.ts";
import { applyEdits, before, touch } from "../config/text/textEdits.ts";
import type { Range } from "../lib/lines.ts";
import { loadConfig, type LoadOptions } from "./load.ts";

/** A fix can reveal another diagnostic, which the next round fixes. More rounds than these would mean two fixes that undo each other. */
const rounds = 8;

/** What diagnostics are found with, next to the text. */
export type Known = Pick<LoadOptions, "models" | "engineKeys">;

export const fixAll = (file: string, text: string, known: Known): string =>
  fixRounds(text, (now) => loadConfig(file, { text: now, ...known }).diagnostics);

/** Fixes what `check` finds, and what that reveals, until nothing is left to fix. */
export function fixRounds(
  text: string,
  check: (text: string) => readonly Pick<Diagnostic, "fixes">[],
): string {
  const seen = [text];
  for (let round = 0; round < rounds; round++) {
    const now = seen.at(-1) ?? text;
    const edits = preferredFixes(check(now)).flatMap(({ edits }) => [...edits]);
    const next = applyEdits(now, edits);
    if (seen.includes(next)) return now;
    seen.push(next);
  }
  return text;
}

/** The preferred fixes that do not touch each other's text. */
export function preferredFixes(diagnostics: readonly Pick<Diagnostic, "fixes">[]): Fix[] {
  const chosen: Fix[] = [];
  // In the order of the text: of those that do not overlap, only the two next to a range can touch it.
  const taken: Range[] = [];
  const placeOf = ({ start }: Range): number =>
    firstWhere(taken.length, (at) => before(start, taken[at]?.start ?? start));
  const isFree = ({ range }: TextEdit): boolean => {
    const place = placeOf(range);
    return !taken.slice(Math.max(0, place - 1), place + 1).some((other) => touch(range, other));
  };
  for (const { fixes } of diagnostics) {
    const [fix] = fixes.filter(({ preferred }) => preferred === true);
    if (fix === undefined || !fix.edits.every(isFree)) continue;
    chosen.push(fix);
    for (const { range } of fix.edits) taken.splice(placeOf(range), 0, range);
  }
  return chosen;
}
