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
  /** Of one seed; NaN where it cannot be told. */
  readonly effect: (own: Result, other: Result) => number;
}

export type Asked = Measure &
  (
    | { /** In the scale of `effect`. */ readonly claimed: number }
    | { /** The paper gives no number for this. */ readonly direction: "more" | "less" }
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
  /** What stands between the paper's experiment and this one. */
  readonly differs: string;
}

/** Sign and size of what is claimed; of a direction alone infinite; undefined: nothing is. */
export function claimedOf(asked: Asked): number | undefined {
  if ("claimed" in asked) return asked.claimed;
  return asked.direction === "beside" ? undefined : asked.direction === "more" ? Infinity : -Infinity;
}
