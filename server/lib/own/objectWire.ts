/** What is said to the process of an environment or a tool of the user's own, and what it answers. */
import type { Json, JsonObject } from "../../../shared/lib/json.ts";

export interface OwnCall {
  readonly name: string;
  readonly arguments: JsonObject;
}

export type ObjectQuestion =
  | { readonly kind: "reset"; readonly task: JsonObject; readonly seed: number }
  | { readonly kind: "step"; readonly text: string }
  | { readonly kind: "state" }
  | { readonly kind: "restore"; readonly task: JsonObject; readonly seed: number; readonly state: Json }
  /** Methods of an environment that are tools, in their order; it answers with a text for each. */
  | { readonly kind: "calls"; readonly calls: readonly OwnCall[] }
  /** What an environment of TRL's form gives at the end. */
  | { readonly kind: "reward" }
  /** A tool. */
  | {
      readonly kind: "call";
      readonly args: JsonObject;
      readonly episode: string;
      /** What the episode is about. */
      readonly task?: JsonObject;
    };

export interface ObjectSpec {
  readonly name: string;
  readonly description: string;
  /** JSON Schema of an object. */
  readonly parameters: JsonObject;
}

/**
 * What a file's export turned out to be: an environment with `reset` and `step`; one of TRL's form, whose public methods
 * are tools; or a tool.
 */
export interface LoadedObject {
  readonly kind: "loaded";
  readonly form: "steps" | "methods" | "tool";
  readonly tools: readonly ObjectSpec[];
  readonly restores: boolean;
  /** It has `get_reward`. */
  readonly rewards: boolean;
}

export type ObjectRole = "environment" | "tool";

export type LoadAnswer = LoadedObject | { readonly kind: "refused"; readonly message: string };
export type ObjectAnswer = { readonly id: number } & ({ readonly value: Json } | { readonly error: string });

export type ToObject =
  | { readonly kind: "load"; readonly bundle: string; readonly name: string; readonly role: ObjectRole }
  | { readonly kind: "ask"; readonly id: number; readonly question: ObjectQuestion };
export type FromObject = LoadAnswer | ObjectAnswer;
