/** How sure a response says it is. */
import { lastIn } from "../text/lastIn.ts";

/** The number in the last pair of the tag: a probability, or with `%` a percentage. undefined: none, or not one from 0 to 1. */
export function confidenceIn(response: string, tag: string): number | undefined {
  const said = /^(\d+(?:\.\d*)?|\.\d+)\s*(%?)$/.exec(lastIn(response, tag) ?? "");
  if (said === null) return undefined;
  const value = Number(said[1]) / (said[2] === "%" ? 100 : 1);
  return value <= 1 ? value : undefined;
}
