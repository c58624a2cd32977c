/** What methods that branch at single tokens share. */
import { z } from "zod";
import { param } from "../../../core/declaration.ts";
import type { Random } from "../../../lib/random.ts";
import type { TokenTexts } from "../../../core/slots/branching.ts";

export const tokenParams = {
  children: param(z.number().int().min(1).default(3), "n2: branches of each first rollout."),
  min_characters: param(
    z.number().int().min(1).optional(),
    "Fewest characters of a token that a branch may leave before, not counting spaces around it. Default: 2, and 1 for a model that reads character by character.",
  ),
  budget: param(
    z.enum(["whole", "rest"]).default("whole"),
    "How many tokens a branch may generate: `rollout.max_tokens` of its own, as in the released code, or what its beginning leaves of them.",
  ),
};

/**
 * Tokens before which a branch may leave: not the first, for nothing would be taken over, and none that is shorter than
 * `least` characters without the spaces around it. Special tokens have no text, so they are never among them.
 */
export function candidates(tokens: Int32Array, least: number | undefined, tokenizer: TokenTexts): number[] {
  const wanted = least ?? (tokenizer.byCharacter === true ? 1 : 2);
  const lengths = new Map<number, number>();
  const lengthOf = (token: number): number => {
    const found = lengths.get(token) ?? [...tokenizer.decode([token]).trim()].length;
    lengths.set(token, found);
    return found;
  };
  return [...tokens.keys()].filter((at) => at > 0 && lengthOf(tokens[at]!) >= wanted);
}

/** One of some places, each as likely; undefined of none. */
export const oneOf = (places: readonly number[], random: Random): number | undefined =>
  places.length === 0 ? undefined : places[random.integer(places.length)];
