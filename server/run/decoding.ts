/** From the config's rollout block to what the policy is asked for. */
import { UserError } from "../../shared/errors.ts";
import type { StageBody } from "../config/resolved.ts";
import { grammarOf } from "../policy/grammar/index.ts";
import type { DecodeOptions, Tokenizer } from "../seams.ts";

type Rollout = StageBody["rollout"];

/** A key of `logit_bias`: a token's id, or a text that is one token. */
function tokenOf(key: string, tokenizer: Tokenizer): number {
  if (/^\d+$/.test(key)) {
    if (Number(key) < tokenizer.size) return Number(key);
    throw biasProblem(key, `the vocabulary has ${tokenizer.size} tokens, from 0`);
  }
  const tokens = tokenizer.encode(key);
  if (tokens.length !== 1) throw biasProblem(key, `the text is ${tokens.length} tokens`);
  return tokens[0]!;
}
const biasProblem = (key: string, why: string): UserError =>
  new UserError(`rollout.logit_bias names ${JSON.stringify(key)}, and ${why}.`, {
    code: "logit-bias",
    action: "Give a token's id, or a text that the model's tokenizer writes as one token.",
  });

/**
 * What a response may be, whatever its temperature: training and evaluation share it.
 *
 * @throws UserError where a bias names no token.
 */
export function constraintsOf(
  { stop, min_tokens, logit_bias, grammar, lanes }: Rollout,
  tokenizer: Tokenizer,
): Partial<DecodeOptions> {
  const biases = Object.entries(logit_bias).map(([key, bias]) => [tokenOf(key, tokenizer), bias] as const);
  return {
    ...(stop.length > 0 ? { stop } : {}),
    ...(min_tokens > 0 ? { min_tokens } : {}),
    ...(biases.length > 0 ? { logit_bias: new Map(biases) } : {}),
    ...(grammar === undefined ? {} : { grammar: grammarOf(grammar, tokenizer) }),
    ...(lanes === undefined ? {} : { lanes }),
  };
}
