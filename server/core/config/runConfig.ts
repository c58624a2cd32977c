/** A whole config as the run reads it. */
import type { ModelConfig, RegisteredModelConfig, StageBody } from "./resolved.ts";
import type { JsonObject } from "../../../shared/json.ts";
import type { StageConfig } from "./stageConfig.ts";

export interface RunConfig {
  readonly file: string;
  readonly name: string;
  readonly seed: number;
  readonly model: ModelConfig;
  /** The models beside the policy, in the order of the config. */
  readonly models: readonly RegisteredModelConfig[];
  readonly stages: readonly StageConfig[];
  /** The top-level blocks, before any stage's overrides: evaluation uses these. */
  readonly top: StageBody;
  readonly evaluation: {
    readonly every: number;
    readonly prompts: number;
    /** Nobody wrote `prompts`: a model that answers slowly may be asked fewer. */
    readonly fits?: boolean;
    readonly pass_at: readonly number[];
    readonly samples: number;
    readonly temperature: number;
    /** Answers of each evaluation that are kept as rollouts. */
    readonly record: number;
    /** Held-out tasks of every stage that are measured as each stage ends; undefined: none. */
    readonly matrix?: number | undefined;
  };
  readonly checkpoint: {
    readonly every: number;
    readonly every_seconds: number;
    readonly keep: number;
    /** Of which evaluation's metric the best checkpoint is kept. */
    readonly best: { readonly metric: string; readonly mode: "max" | "min" } | undefined;
  };
  readonly engine: {
    readonly backend: "auto" | "native" | "webgpu" | "wasm";
    readonly threads: number | undefined;
    /** Most bytes that the run may take; undefined: a share of the machine's. */
    readonly memory?: number | undefined;
  };
  /** The resolved tree as plain data, as `gradus resolve` prints it and the store keeps it. */
  readonly tree: JsonObject;
}

/** Names of the models beside the policy that write and score text: what divergences can be measured from. */
export function languageModels({ models }: Pick<RunConfig, "models">): readonly string[] {
  const small = new Set(models.flatMap((one) => (one.kind === "perceptron" ? [one.name] : [])));
  return models.flatMap((one) => (small.has(one.kind === "copy" ? one.of : one.name) ? [] : [one.name]));
}
