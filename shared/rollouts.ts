/**
 * Recorded rollouts: one JSON object a line. Writers never emit bare NaN: non-finite numbers are the strings "NaN",
 * "Infinity" and "-Infinity"; readers accept both. Unknown keys are kept.
 */
import type { JsonObject } from "./json.ts";

/** A number that may be non-finite on the wire, or null where no value exists. */
export type WireNumber = number | "NaN" | "Infinity" | "-Infinity";
export type MaybeNumber = WireNumber | null;

/** null: not applicable. */
export type WireReward = WireNumber | null | { readonly level: "token" | "step" | "turn"; readonly values: readonly MaybeNumber[] };

export interface RolloutRow {
  readonly run?: string;
  readonly step: number;
  readonly group: string;
  readonly index: number;
  readonly attempt?: number;
  readonly task?: { readonly env?: string; readonly arm?: string; readonly id?: string; readonly data?: JsonObject };
  readonly prompt?: string;
  readonly response?: string;
  readonly finish?: "stop" | "length" | "error";
  readonly source?: "self" | "guided" | "teacher" | "dataset" | "replay";
  readonly use?: "train" | "estimate" | "evaluate";
  readonly tokens?: readonly number[];
  readonly origin?: readonly ("written" | "given" | "observed")[];
  readonly mask?: readonly number[];
  readonly versions?: readonly (number | null)[];
  readonly logp_old?: readonly MaybeNumber[];
  readonly logp_sampled?: readonly MaybeNumber[];
  readonly logp_new?: readonly MaybeNumber[];
  readonly logp_ref?: readonly MaybeNumber[];
  readonly entropy?: readonly MaybeNumber[];
  readonly values?: readonly MaybeNumber[];
  readonly context?: readonly number[];
  readonly train_context?: readonly number[];
  readonly turns?: readonly { readonly role: string; readonly agent?: string; readonly start: number; readonly end: number }[];
  readonly steps?: readonly (readonly [number, number])[];
  readonly parent?: { readonly index: number; readonly token: number };
  readonly pair?: string;
  readonly rewards?: Readonly<Record<string, WireReward>>;
  readonly errors?: Readonly<Record<string, string>>;
  readonly reward?: MaybeNumber;
  readonly advantage?: MaybeNumber;
  readonly advantages?: readonly MaybeNumber[];
  readonly admitted?: boolean;
}

/** NaN and infinities as their wire strings. */
export const toWire = (value: number): WireNumber =>
  Number.isFinite(value) ? value : Number.isNaN(value) ? "NaN" : value > 0 ? "Infinity" : "-Infinity";

/** The number a wire value stands for; null becomes NaN. */
export const fromWire = (value: MaybeNumber): number => (value === null ? Number.NaN : Number(value));
