/** A checked config as the rules read it. */
import type { MapNode, Origin } from "../text/node.ts";
import type { SourceEdits } from "../text/edits.ts";
import type { KeysOfEngine } from "../../core/config/engineKeys.ts";
import type { ModelFacts } from "../../core/config/modelFacts.ts";
import type { Diagnostic } from "./diagnostic.ts";
import type { Report } from "./report.ts";
import type { RunConfig } from "../../core/config/runConfig.ts";
import type { StageConfig } from "../../core/config/stageConfig.ts";

/** A stage with its merged tree, so that a diagnostic is where the value was written. */
export interface StageView {
  readonly config: StageConfig;
  readonly body: MapNode;
  /** Its item in `stages`; undefined where no stages are written. */
  readonly written: MapNode | undefined;
  /** `stages.easy`, or empty. */
  readonly path: string;
}

export interface ConfigModel {
  readonly config: RunConfig;
  readonly root: MapNode;
  /** What the file extends, before its own values; undefined where it extends nothing. */
  readonly inherited?: MapNode | undefined;
  /** Where it extends several: each but the first, with what lies below it. */
  readonly mixed?: readonly { readonly below: MapNode; readonly over: MapNode; readonly at: Origin }[];
  readonly stages: readonly StageView[];
  readonly file: string;
  /** `--steps` cut the run short: what then lies past its end was not meant to. */
  readonly capped: boolean;
  /** What the models' files say; undefined where only the config is looked at. */
  readonly facts?: ModelFacts | undefined;
  /** The settings of other trainers; undefined where they are not looked at. */
  readonly engineKeys?: KeysOfEngine | undefined;
  /** What is wrong with the config once these are set, too; undefined in such a config itself. */
  readonly withSet?: ((set: readonly string[]) => readonly Diagnostic[]) | undefined;
  /** Every combination of a sweep is looked at, not a few: what takes seconds may be done. */
  readonly thorough: boolean;
  readonly report: Report;
  /** Makes fixes of the file that is checked. */
  readonly edits: SourceEdits;
}
