/** Yes or no, as judges say it. */
import type { Told } from "./teller.ts";

/** 1 met, 0 not; a text: why it is not known. */
export type Verdict = 0 | 1 | string;

/** The first yes or no that a judge says, or what it writes as `criteria_met` in JSON. */
export function verdictIn(said: string): Verdict {
  const [, word] =
    /"?criteria_met"?\s*:\s*(true|false)/i.exec(said) ?? /\b(yes|no|true|false)\b/i.exec(said) ?? [];
  if (word === undefined) return `the judge said neither yes nor no: ${JSON.stringify(said.slice(0, 80))}`;
  return /yes|true/i.test(word) ? 1 : 0;
}

export const verdictOf = (told: Told): Verdict => ("error" in told ? told.error : verdictIn(told.text));
