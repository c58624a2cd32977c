/** A part of a rollout that one side said. */
import type { Json } from "../../../shared/lib/json.ts";
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
  /** Of an attempt: what the environment rewarded it with; absent: nothing. */
  readonly reward?: number;
  /** Of an attempt that was chosen among these: every action that there was, each once (GLAM). */
  readonly actions?: readonly string[];
  /** Of a reply: the tool that answered. */
  readonly name?: string;
  /** Of a reply: where the environment stood after it, where it can tell. In memory only. */
  readonly state?: Json;
}
