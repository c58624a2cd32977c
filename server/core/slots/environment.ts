/** What answers the policy's turns: an environment with state, in which a task is worked on over several turns. */
import type { Json, JsonObject } from "../../../shared/lib/json.ts";
import type { Prepared } from "../../lib/own/prepared.ts";
import type { Task } from "../task.ts";
import type { ToolSpec } from "./tool.ts";

/** What is said to the policy, in the words of chat templates: `user` speaks for the environment, `tool` for a tool. */
export interface Message {
  readonly role: "user" | "tool";
  readonly text: string;
  /** Of a tool: its name. */
  readonly name?: string;
}

/** What the policy reads next. */
export interface Observation {
  readonly messages: readonly Message[];
  /** What may be written next, where the environment takes nothing else (GLAM: a policy over admissible actions). */
  readonly actions?: readonly string[];
}

/** What came of a turn of the policy. */
export interface Stepped extends Observation {
  /** Of this turn; absent: none. */
  readonly reward?: number;
  /** The episode has ended: the messages are not read. */
  readonly done: boolean;
  /** Numbers by name, recorded with the rollout. */
  readonly components?: Readonly<Record<string, number>>;
}

/**
 * One episode at a time: `reset` begins one, `step` takes it on by what the policy wrote. The same task and seed begin the
 * same episode. What it throws is an error of its rollout, never a reward of 0.
 */
export interface Environment {
  /**
   * Begins an episode of the task.
   * @param seed of the episode's chances: rollouts of a group share it
   * @returns what is said after the task's prompt (with the last message appended to it), often nothing
   */
  reset(task: Task, seed: number): Promise<Observation>;
  /** Takes one turn of the policy, its text without end tokens. */
  step(text: string, signal?: AbortSignal): Promise<Stepped>;
  /**
   * The episode is over though no step has said `done`: its turns or tokens are used up. What it is worth, where only
   * its end is rewarded. Called at most once, after the last step; never after one that was done.
   */
  end?(): Promise<Pick<Stepped, "reward" | "components">>;
  /** Where the episode stands, for `restore`. Absent: it cannot be told; the same seed and turns must lead there again. */
  state?(): Promise<Json>;
  /** Begins an episode of the task in a state that `state` gave. */
  restore?(task: Task, seed: number, state: Json): Promise<void>;
  /** Ends the episode, if one is open, and what it holds. */
  close(): Promise<void>;
}

/** The environment slot: opens as many environments as episodes are played at once. */
export interface Environments {
  /** Tools that the policy may call, beside what `rollout.tools` lists; the call reaches `step` as the policy wrote it. */
  readonly tools?: readonly ToolSpec[];
  /** Loads what all of them share, once, before the first episode; throws a UserError a person can act on. */
  prepare?(): Promise<void>;
  /** The user's code that it runs, once it is prepared. */
  readonly made?: Prepared | undefined;
  /** Its tasks are answered in one response as well: a run that plays none of them lacks nothing. */
  readonly optional?: true;
  /** Most that may be open at once; absent: any number. */
  readonly most?: number;
  open(): Promise<Environment>;
  /** Ends every process that they hold. */
  close?(): Promise<void>;
}

export const noMessages: readonly Message[] = [];

/** An observation of one message. */
export const says = (text: string): Observation => ({ messages: [{ role: "user", text }] });

/** What an environment may keep as JSON. */
export type EnvironmentState = JsonObject;
