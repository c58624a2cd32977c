/** What the policy may call while it answers. */
import type { JsonObject } from "../../../shared/lib/json.ts";
import type { Prepared } from "../../lib/own/prepared.ts";
import type { Random } from "../../lib/random.ts";
import type { Clock } from "../basics.ts";
import type { Task } from "../task.ts";

/** As chat templates and function-calling APIs describe a tool: `parameters` is a JSON Schema of an object. */
export interface ToolSpec {
  readonly name: string;
  readonly description: string;
  readonly parameters: JsonObject;
}

export interface ToolContext {
  /** Of the rollout that calls: what has state keeps it by this name. */
  readonly episode: string;
  /** What that rollout is about. */
  readonly task?: Task;
  readonly signal?: AbortSignal;
  /** Where the run is; absent: an evaluation. */
  readonly clock?: Clock;
  /** Of this call alone, the same whenever it is made. */
  readonly random?: Random;
}

export interface Tool extends ToolSpec {
  /**
   * The text that the policy reads as the result. A mistake of the policy (a wrong argument, a program that fails) is a text
   * too; what is thrown is an error of the rollout.
   */
  call(args: JsonObject, context: ToolContext): Promise<string>;
}

/** The tool slot: one choice may give several tools, as a server does. */
export interface Tools {
  /** Loads or connects, once, before the first call; throws a UserError a person can act on. */
  open(): Promise<readonly Tool[]>;
  /** The user's code that it runs, once it is open. */
  readonly made?: Prepared | undefined;
  /** What it keeps for an episode may go. */
  ended?(episode: string): void;
  close?(): Promise<void>;
}
