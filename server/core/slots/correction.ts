/** What the correction slot is made of. */
import type { Model } from "../basics.ts";
import type { ObjectiveInput } from "../loss.ts";

/** What a correction sees: an objective's input before the normaliser. */
export type CorrectionInput = Pick<
  ObjectiveInput,
  "batch" | "now" | "old" | "advantages" | "weights" | "clock" | "version"
>;

/** What a correction does. No gradient flows through it. */
export interface Corrected {
  /** Multiplies the objective's loss of each token, after the normaliser; KL terms and bonuses go without. */
  readonly factors?: Float64Array;
  /** 0 where the token stops training altogether: the normaliser does not count it, and no KL term acts on it. */
  readonly kept?: Uint8Array;
  readonly metrics?: Readonly<Record<string, number>>;
  readonly touched?: Readonly<Record<string, Uint8Array>>;
}

/** Corrects for tokens that another distribution drew. Several of a list see the same weights, and multiply. */
export interface Correction {
  readonly models?: readonly Model[];
  correct(input: CorrectionInput): Corrected;
}
