/** What the parent and the reward's process say to each other, over the IPC channel alone (structured clones, so NaN survives). */
import type { JsonObject } from "../../../../shared/lib/json.ts";
import type { Finish } from "../../../../shared/rollouts/fields.ts";
import type { TermValue } from "../../../core/slots/reward.ts";

/** The argument of a user's reward function. */
export interface ScoreInput {
  readonly prompt: string;
  readonly response: string;
  readonly task: {
    readonly id: string;
    readonly source: string;
    readonly env: string;
    readonly prompt: string;
    readonly answer?: string;
    readonly data: JsonObject;
  };
  readonly finish: Finish;
  /** The texts of the response's steps, where they are known (`rollout.steps`): `{ level: "step", values }` has one for each. */
  readonly steps?: readonly string[];
  /** The turns of a conversation, where there is one: `{ level: "turn", values }` has one value for each. */
  readonly turns?: readonly { readonly role: string; readonly text: string }[];
  /** Place among the task's rollouts of this step, and the group they form. */
  readonly index: number;
  readonly group: string;
  /** Tokens of the response. */
  readonly length: number;
  readonly step: number;
  readonly args: JsonObject;
}

export type ToHost =
  | {
      readonly kind: "load";
      readonly bundle: string;
      readonly export: string;
      /** The bundle has marks that count what its calls reach. */
      readonly cover?: true;
    }
  | { readonly kind: "reached" }
  | { readonly kind: "score"; readonly id: number; readonly input: ScoreInput };
export type FromHost =
  | { readonly kind: "loaded" }
  | { readonly kind: "refused"; readonly message: string }
  | { readonly kind: "scored"; readonly id: number; readonly value: TermValue }
  | {
      readonly kind: "reached";
      readonly rollouts: number;
      /** Numbers of marks, and how many calls reached each. */
      readonly counts: readonly (readonly [number, number])[];
      /** Marks that loading reached. */
      readonly loading: readonly number[];
      /** The mark of the last call's `return`. */
      readonly returned: number | null;
    };

/** Functions that the marks of a covered bundle call. */
export const marks = { line: "__gradusLine", returned: "__gradusReturn" } as const;

const isObject = (value: unknown): value is Readonly<Record<string, unknown>> =>
  typeof value === "object" && value !== null;

/** The channel is open to the user's code, too: what came over it need not be a value. */
export function isTermValue(value: unknown): value is TermValue {
  if (!isObject(value)) return false;
  switch (value["kind"]) {
    case "none":
      return true;
    case "error":
      return typeof value["message"] === "string";
    case "value":
      return Number.isFinite(value["value"]);
    case "values":
      return Array.isArray(value["values"]);
    default:
      return false;
  }
}
