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

/** A finished rollout of a group, in the places of its tokens, what it took over included. */
export interface Searched {
  /** Place in the group. */
  readonly index: number;
  readonly parent?: { readonly index: number; readonly token: number } | undefined;
  /** Where its steps end, ascending; the last is where it ends. */
  readonly ends: readonly number[];
  /** What it is worth; NaN: unknown. */
  readonly value: number;
}

/** Of one group: a tree of steps that grows by a rollout at a time. */
export interface TreeSearch {
  /** Where the next rollout leaves which other; undefined: it begins at the prompt. */
  next(random: Random): { readonly index: number; readonly token: number } | undefined;
  add(rollout: Searched): void;
}

/** How a group is searched. */
export interface Searching {
  /** Rollouts that are written at once before the next are placed. */
  readonly parallel: number;
  /** Tokens of a step, where the config does not say what ends one. */
  readonly stride: number;
  /** The term whose value of a rollout is backed up; undefined: the combined reward. */
  readonly by?: string | undefined;
  readonly begin: () => TreeSearch;
}

/** How some rollouts of a group leave others. */
export interface Branching {
  /** Branches of each of a group's first rollouts; 0: none, all rollouts are first ones. */
  readonly children: number;
  /** whole: a branch may write `rollout.max_tokens` of its own; rest: those that its beginning leaves. */
  readonly budget: "whole" | "rest";
  /** The token of the rollout before which its branches leave it, above 0; undefined: there is none to leave at. */
  leave(rollout: Branchable, random: Random, tokenizer: TokenTexts): number | undefined;
  /** A search over many rounds, in the place of branches that all leave at once. */
  readonly search?: Searching;
}
