/** What a paper says of a method, and how it is asked here. */
import type { Result } from "./result.ts";

/** One config of sides/ as one claim takes it. */
export interface Side {
  /** File of sides/, without its ending; results are kept under this name. */
  readonly name: string;
  /** Shown to a person. */
  readonly label: string;
}

interface Measure {
  /** What is measured, in a few words. */
  readonly what: string;
  /** What the paper claims of it, in its words and numbers. */
  readonly paper: string;
  /** 0 is no effect; a ratio is shown as exp of it. */
  readonly scale: "difference" | "ratio";
  /** Of one seed; NaN where it is unknown. */
  readonly effect: (own: Result, other: Result) => number;
}

export type Asked = Measure &
  (
    | { /** In the scale of `effect`. */ readonly claimed: number }
    | {
        /** The paper gives no number for this. */
        readonly direction: "more" | "less";
        /** In the scale of `effect`, above 0: what is less than this is as good as nothing. */
        readonly margin: number;
      }
    | { /** No claim: what has to be known beside one. */ readonly direction: "beside" }
  );

export interface Claim {
  readonly id: string;
  readonly paper: string;
  /** One sentence. */
  readonly says: string;
  readonly own: Side;
  readonly other: Side;
  readonly real: readonly Asked[];
  readonly simulated: readonly Asked[];
  /** What differs between the paper's experiment and this one. */
  readonly differs: string;
  /**
   * At how many seeds of real runs it is decided, fixed before the first of them; all looks share the 5 % of an error.
   * Who looks again later adds the number here, and so widens the interval. "of the pilot": a pilot with seeds of its own
   * says at how many (plan.ts).
   */
  readonly looks: readonly number[] | "of the pilot";
  /** What is simulated in the place of the method, where that is another one: it says nothing of the claim. */
  readonly standIn?: string;
}

/** What a result is held against; undefined: nothing is claimed. */
export interface Bar {
  /** 1: more is claimed; −1: less. */
  readonly sign: 1 | -1;
  /** What the paper claims, in size; undefined: it gives no number. */
  readonly claimed?: number;
  /** What is less is as good as nothing: half of what is claimed, where that is a number. */
  readonly margin: number;
}

export function barOf(asked: Asked): Bar | undefined {
  if ("claimed" in asked) {
    const claimed = Math.abs(asked.claimed);
    return { sign: asked.claimed > 0 ? 1 : -1, claimed, margin: claimed / 2 };
  }
  if (asked.direction === "beside") return undefined;
  return { sign: asked.direction === "more" ? 1 : -1, margin: asked.margin };
}
