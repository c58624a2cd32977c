/** Where responses end, and what they say without that. */
import type { Tokenizer } from "../policy.ts";

/** Every token that ends a response. */
export const endsOf = ({ eos, eosAll = [eos] }: Pick<Tokenizer, "eos" | "eosAll">): readonly number[] =>
  eosAll;

export const hasEnded = (tokens: ArrayLike<number>, tokenizer: Tokenizer): boolean =>
  endsOf(tokenizer).includes(tokens[tokens.length - 1] ?? -1);

/** A response without the token that ended it. */
export const withoutEnd = (tokens: Int32Array, tokenizer: Tokenizer): Int32Array =>
  hasEnded(tokens, tokenizer) ? tokens.subarray(0, -1) : tokens;

/** Its text. */
export const responseText = (tokens: Int32Array, tokenizer: Tokenizer): string =>
  tokenizer.decode(withoutEnd(tokens, tokenizer));

/** The text of tokens that may end more than once: turns of a conversation. */
export function textWithoutEnds(tokens: Int32Array, tokenizer: Tokenizer): string {
  const ends = endsOf(tokenizer);
  return tokenizer.decode(tokens.filter((token) => !ends.includes(token)));
}
