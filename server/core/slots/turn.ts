/** A part of a rollout that one side said. */
import type { Finish } from "../basics.ts";

/** One turn of a conversation: tokens [start, end) of the row. */
export interface Turn {
  readonly role: string;
  readonly agent?: string;
  readonly start: number;
  readonly end: number;
  /** What it says, without end tokens and what a chat template puts around it; where a run wrote it. */
  readonly text?: string;
  /** Of an attempt: how it ended. */
  readonly finish?: Finish;
}
