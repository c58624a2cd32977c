/** What the converters share. */
import type { TrainerThat } from "../../../shared/run/trainers.ts";
import type { Json, JsonObject } from "../../../shared/lib/json.ts";
import type { Range } from "../../lib/lines.ts";
import type { FrameworkRelease } from "../text/document.ts";
import type { ScriptReward } from "../readers/trl/scriptRewards.ts";
import type { RowsBuilder } from "../readers/trl/trlScript.ts";
import type { ConfigDraft } from "./configDraft.ts";
import type { Settings, Unmapped } from "./settings.ts";

/** Whose configuration was converted. */
export type ConvertedFrom = TrainerThat<"converted">;

/** A framework's configuration, parsed: settings by dotted key, and what parsing lost. */
export interface FrameworkSettings {
  readonly framework: ConvertedFrom;
  readonly settings: ReadonlyMap<string, Json>;
  readonly lost: readonly Unmapped[];
  /** Of a Python script that calls the trainer. */
  readonly rewards?: readonly ScriptReward[];
  /** Of a script whose rows are not those of a file. */
  readonly rowsBuilder?: RowsBuilder | undefined;
  /** Columns that the script gives these rows, among other words. */
  readonly columns?: readonly string[];
  /** Of a framework with tables: the release that the file is checked against, and which set of its keys. */
  readonly version?: FrameworkRelease;
  readonly tree?: string | undefined;
  /** The release of verl's own trainer, where the text or its surroundings name one. */
  readonly release?: string | undefined;
  /** Where each setting is written, under its name in `settings`. */
  readonly places: ReadonlyMap<string, Range>;
  /** The range for what no setting of the file says. */
  readonly head: Range;
}

export interface Converted {
  readonly framework: ConvertedFrom;
  /** YAML of a Gradus config. */
  readonly config: string;
  readonly unmapped: readonly Unmapped[];
  /** What decides a run and the file does not say: the framework's defaults, which the config has. */
  readonly defaulted: readonly Unmapped[];
  /** What makes the rows that train, where the reward sees others than those of the files that are named. */
  readonly rowsBuilder?: RowsBuilder | undefined;
  /** Whether the config has a placeholder for the reward that trains. */
  readonly rewardReplaced: boolean;
  /** Where each of the framework's settings is written, by its dotted key. */
  readonly places: ReadonlyMap<string, Range>;
  readonly head: Range;
}

/** One entry of the `kl` list. */
export type KlEntry = JsonObject;

/** By path in a config, the settings that may have written it: the first pattern that fits counts, and of its settings the first that the file has. */
export type SettingsOfPaths = readonly (readonly [path: RegExp, ...settings: readonly string[]])[];

/** How a trainer's configuration becomes a config. */
export interface Converter {
  /** Of a trainer without tables: the only release whose defaults are known. */
  readonly release?: string;
  /** The set of keys, where the converter decides it. */
  readonly tree?: string;
  /** The newest release's. */
  readonly defaults: JsonObject;
  readonly convert: (settings: Settings) => ConfigDraft;
  readonly reasonOf: (key: string, settings: Settings) => string;
  /** Settings that decide what a run is: model, data, batch, group and lengths. */
  readonly deciding: readonly string[];
  readonly places: SettingsOfPaths;
}
