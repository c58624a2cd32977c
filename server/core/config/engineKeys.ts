/** What is known of the settings of another trainer. */
import type { ExternalEngine } from "../../../shared/run/trainers.ts";
import type { Json } from "../../../shared/lib/json.ts";

export interface EngineKeys {
  readonly keys: readonly string[];
  has(key: string): boolean;
  /** Its default, where it has one. */
  usual(key: string): Json | undefined;
}

/** undefined: nothing is known of the trainer. */
export type KeysOfEngine = (engine: ExternalEngine) => EngineKeys | undefined;
