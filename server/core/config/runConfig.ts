/** A whole config as the run reads it. */
import type { config } from "../blocks/body.ts";
import type { Built } from "../blocks/field.ts";
import type { ModelConfig, RegisteredModelConfig } from "../blocks/models.ts";
import type { StageBody } from "./resolved.ts";
import type { JsonObject } from "../../../shared/lib/json.ts";
import type { StageConfig } from "./stageConfig.ts";

type Run = Built<typeof config>;

export interface RunConfig {
  readonly file: string;
  readonly name: string;
  readonly seed: number;
  readonly model: ModelConfig;
  /** The models other than the policy, in the order of the config. */
  readonly models: readonly RegisteredModelConfig[];
  readonly stages: readonly StageConfig[];
  /** The top-level blocks, before any stage's overrides: evaluation uses these. */
  readonly top: StageBody;
  readonly evaluation: Run["evaluation"];
  readonly checkpoint: Run["checkpoint"];
  readonly engine: Run["engine"];
  /** Runs with other values that `gradus run` makes of the file; undefined: one run, as it is. */
  readonly sweep?: Run["sweep"];
  /** The resolved tree as plain data, as the store keeps it: without `sweep`, which is no part of a single run. */
  readonly tree: JsonObject;
  /** The file of rows that a training script has built: a person knows such a row by its number alone. */
  readonly builtRows?: string;
}

/** Names of the models other than the policy that write and score text: what divergences can be measured from. */
export function languageModels({ models }: Pick<RunConfig, "models">): readonly string[] {
  const small = new Set(models.flatMap((one) => (one.kind === "perceptron" ? [one.name] : [])));
  return models.flatMap((one) => (small.has(one.kind === "copy" ? one.of : one.name) ? [] : [one.name]));
}
