/** What a term reads of others: whether a response is right. */
import { z } from "zod";
import { param } from "../../core/declaration.ts";
import { refers } from "../../core/references.ts";
import type { RewardContext } from "../../core/reward.ts";
import type { TermValue } from "../../core/slots/reward.ts";

export const ofTerm = param(
  refers({ to: "term" }).optional(),
  "The reward term that says whether a response is correct; default: the terms that decide a success.",
);
export const atLeast = param(
  z.number().default(1),
  "A response is correct where that term, before its weight, is at least this.",
);

/** A term's whole value: the sum over its places, or what it is otherwise. */
function wholeOf(said: TermValue): number | TermValue {
  if (said.kind === "value") return said.value;
  if (said.kind !== "values") return said;
  return said.values.reduce((sum, one) => sum + (Number.isNaN(one) ? 0 : one), 0);
}

/** Of each row what another term gave it; in the place of a number what a term that reads it then says: none, or its error. */
export const numbersOf = ({ said }: RewardContext, term: string | undefined): (number | TermValue)[] => {
  if (said === undefined) throw new Error("internal: a term reads others and was given none");
  return said(term).map(wholeOf);
};
