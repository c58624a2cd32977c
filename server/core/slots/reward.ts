/** What a reward term gives. */
import type { JudgedCriterion } from "../../../shared/rollouts/criteria.ts";
import type { Level } from "../basics.ts";

/** Characters [from, to) of a response, by a name that masks read, e.g. `executed` or `error`. */
export type TextSpans = Readonly<Record<string, readonly (readonly [from: number, to: number])[]>>;

/** Numbers that a term gives next to its value, by name: recorded and charted, never summed. */
export type Components = Readonly<Record<string, number>>;

/** What a term says of one rollout. */
export type TermValue = (
  | { readonly kind: "value"; readonly value: number; readonly spans?: TextSpans }
  | {
      readonly kind: "values";
      readonly level: Exclude<Level, "response">;
      readonly values: readonly number[];
      readonly spans?: TextSpans;
    }
  | { readonly kind: "none"; readonly spans?: TextSpans }
  | { readonly kind: "error"; readonly message: string }
) & {
  /** What it made of each criterion: recorded and shown, read by nothing that trains. */
  readonly criteria?: readonly JudgedCriterion[];
  readonly components?: Components;
};
