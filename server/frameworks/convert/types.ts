/** What the three converters share. */
import type { Json, JsonObject } from "../../../shared/lib/json.ts";
import type { Framework } from "../document.ts";
import type { Unmapped } from "./settings.ts";

/** A framework's configuration, parsed: settings by dotted key, and what parsing lost. */
export interface FrameworkSettings {
  readonly framework: Framework;
  readonly settings: ReadonlyMap<string, Json>;
  readonly lost: readonly Unmapped[];
}

export interface Converted {
  readonly framework: Framework;
  /** YAML of a Gradus config. */
  readonly config: string;
  readonly unmapped: readonly Unmapped[];
}

/** One entry of the `kl` list. */
export type KlEntry = JsonObject;
