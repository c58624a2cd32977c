/** Why one rollout's advantage is what it is: what `gradus explain --why` prints and the run panel shows. */
import type { Criterion, Met } from "./criteria.ts";
import type { MaybeNumber } from "./rollouts.ts";

/** A rollout of the group; the explained one is among them. */
export interface WhySibling {
  readonly index: number;
  /** Combined reward; null: it has none. */
  readonly reward: MaybeNumber;
  /** Mean over the tokens that train; null: it has none. */
  readonly advantage: MaybeNumber;
  /** Why it has no reward, where it has none. */
  readonly note: string | null;
}

export interface TermShare {
  readonly term: string;
  readonly weight: number;
  /** The term's value, before its weight; null: none. */
  readonly value: MaybeNumber;
  /** The term's part of the advantage: its Shapley value. 0 where it changes nothing. */
  readonly share: number;
  /** Why the term counts for nothing, where that is so. */
  readonly note: string | null;
}
/** `rest` is what is left without a value of any term: a KL penalty's part. Shares and rest sum to the advantage. */
export type TermShares =
  | { readonly kind: "exact"; readonly terms: readonly TermShare[]; readonly rest: number }
  | { readonly kind: "none"; readonly reason: string };

/** A term that judges by criteria. */
export interface TermCriteria {
  readonly term: string;
  /** `met` is in the order of the siblings; null: unknown, or that one was not scored by it. */
  readonly criteria: readonly (Criterion & { readonly met: readonly Met[] })[];
}

/** What another baseline or scale would have given. */
export interface Alternative {
  readonly baseline: string;
  readonly scale: string;
  /** The config's own. */
  readonly chosen: boolean;
  /** null: it has none, see `reason`. */
  readonly advantage: MaybeNumber;
  readonly reason: string | null;
}

/** Tokens [start, end) of the rollout. */
export type Span = readonly [start: number, end: number];

export interface TokenRule {
  /** Its name in the config or in the objective: `observed`, `top_entropy`, `clip_high`. */
  readonly rule: string;
  readonly effect: "masked" | "clipped" | "weighted";
  /** What it does, as a sentence without its end. */
  readonly text: string;
  readonly count: number;
  readonly spans: readonly Span[];
}
export interface TokenFacts {
  readonly total: number;
  readonly trained: number;
  readonly rules: readonly TokenRule[];
  /** Whether it is known which tokens the clip touched: from `logp_new`, as the update recorded it, or not at all. */
  readonly clips: "computed" | "recorded" | "unknown";
}

export type WhyTopic = "advantage" | "criteria" | "terms" | "alternatives" | "tokens";

export interface Why {
  readonly type: "why";
  readonly step: number;
  readonly group: string;
  readonly index: number;
  /** False where its group was not admitted: the numbers say what would have been. */
  readonly trains: boolean;
  readonly reward: MaybeNumber;
  readonly advantage: MaybeNumber;
  /** As the rollout was recorded; null: it was not. */
  readonly recorded: MaybeNumber;
  readonly baseline: string;
  readonly scale: string;
  readonly siblings: readonly WhySibling[];
  readonly shares: TermShares;
  /** What terms said of the group criterion by criterion; absent: none does. */
  readonly criteria?: readonly TermCriteria[];
  readonly alternatives: readonly Alternative[];
  readonly tokens: TokenFacts;
  /** The same in sentences. */
  readonly words: readonly { readonly about: WhyTopic; readonly text: string }[];
}
