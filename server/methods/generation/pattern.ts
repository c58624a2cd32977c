/** Regular expressions of answers. */
import type { TextPattern } from "../../lib/texts/textPattern.ts";

/** The first group of a pattern in a text, else the whole match, trimmed; null: it does not match. */
export function extracted(text: string, pattern: TextPattern): string | null {
  const match = pattern.first(text);
  const found = (match?.[1] ?? match?.[0] ?? "").trim();
  return found === "" ? null : found;
}

/** The last line that is not blank. */
export const lastLine = String.raw`(\S[^\n]*)\s*$`;
