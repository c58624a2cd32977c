/** What the shapes of episodes are made of. */
import type { Random } from "../../lib/random.ts";

/** An attempt that has just ended. */
interface EndedAttempt {
  /** Counted from 1. */
  readonly number: number;
  /** Attempts that the episode may have. */
  readonly tries: number;
  /** undefined: the shape does not ask (`judges`), or it could not be decided. */
  readonly right: boolean | undefined;
}

/** How the policy's turns are answered by the task's environment and the run's tools. */
export interface Playing {
  /** Seconds that an answer may take; after them the episode has failed. */
  readonly seconds: number;
  /** How the environment's words are written where no chat template does it; `{text}`. */
  readonly observation: string;
  /** How the policy calls a tool; see `toolCalls.ts`. */
  readonly calls: "json" | "tags";
  /** How a tool's result is written; `{result}` and `{name}`. Absent: as the format does, or as the chat template has it. */
  readonly result?: string;
  /** write: the policy writes its turns; choose: it draws each among the actions that the environment lists. */
  readonly actions: "write" | "choose";
  /** append: the next turn is read after the very tokens that were written; rerender: the chat template writes all of it again. */
  readonly next: "append" | "rerender";
}

/** How an episode goes: how many attempts it may have, and what is said between two of them. */
export interface EpisodeShape {
  /** Who answers an attempt: the shape itself (absent), or the task's environment and the run's tools. */
  readonly plays?: Playing;
  /** Most attempts of any episode. */
  readonly most: number;
  /** attempt: each may have `rollout.max_tokens`; episode: all of an episode share them. */
  readonly budget: "attempt" | "episode";
  /** Whether it asks of each attempt if it was right (`reward.success`). */
  readonly judges: boolean;
  /** Attempts that an episode may have, 1 to `most`. */
  tries(random: Random): number;
  /** What is asked first in the place of the task's prompt; absent: the prompt. */
  ask?(prompt: string, tries: number): string;
  /** What is said after an attempt; undefined: the episode has ended. */
  reply(attempt: EndedAttempt): string | undefined;
}
