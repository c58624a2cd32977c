/** What the three converters share. */
import type { Json, JsonObject } from "../../shared/json.ts";
import type { Unmapped } from "./settings.ts";

export type Peer = "verl" | "trl" | "openrlhf";

/** A foreign configuration, read: settings by dotted key, and what reading it lost. */
export interface Written {
  readonly peer: Peer;
  readonly settings: ReadonlyMap<string, Json>;
  readonly lost: readonly Unmapped[];
}

export interface Converted {
  readonly peer: Peer;
  /** YAML of a Gradus config. */
  readonly config: string;
  readonly unmapped: readonly Unmapped[];
}

/** One entry of the `kl` list. */
export type KlEntry = JsonObject;

export const plural = (n: number, what: string): string =>
  `${n} ${what}${n === 1 ? "" : what.endsWith("s") ? "es" : "s"}`;
