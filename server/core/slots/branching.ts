/** What branching is made of. */
import type { Random } from "../../lib/random.ts";
import type { Tokenizer } from "../policy.ts";

/** What the policy wrote of a rollout, end token included. */
export interface Branchable {
  readonly tokens: Int32Array;
  /** In nats, of the distribution that each token was drawn from, at temperature 1. */
  readonly entropy: Float64Array;
}

/** What a method may know of tokens in addition to their numbers. */
export type TokenTexts = Pick<Tokenizer, "decode" | "byCharacter">;

/** How some rollouts of a group leave others. */
export interface Branching {
  /** Branches of each of a group's first rollouts; 0: none, all rollouts are first ones. */
  readonly children: number;
  /** whole: a branch may write `rollout.max_tokens` of its own; rest: those that its beginning leaves. */
  readonly budget: "whole" | "rest";
  /** The token of the rollout before which its branches leave it, above 0; undefined: there is none to leave at. */
  leave(rollout: Branchable, random: Random, tokenizer: TokenTexts): number | undefined;
}
