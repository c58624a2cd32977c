/** Opening the language model that a run trains. */
import { existsSync, statSync } from "node:fs";
import { UserError } from "../../shared/errors.ts";
import type { OptimizerChoice } from "../config/declaration.ts";
import type { ModelConfig } from "../config/resolved.ts";
import { openBackend, type BackendChoice } from "./backend.ts";
import { isCheckpoint, readCheckpointHead, readWeights, type CheckpointHead } from "./checkpoint.ts";
import { LanguageModel, type TrainablePolicy } from "./policy.ts";
import { CharacterTokenizer } from "./tokenizers/characters.ts";
import { tokenizerByName } from "./tokenizers/index.ts";
import { initialWeights, llamaStyle, parameterCount, type Shape } from "./transformer/weights.ts";

export { probeBackend, type BackendProbe, type BackendChoice } from "./backend.ts";
export { threadSettings } from "./native.ts";
export type { Backend, TrainablePolicy } from "./policy.ts";

export interface PolicyOptions {
  readonly model: ModelConfig;
  readonly optimizer: OptimizerChoice;
  readonly backend: BackendChoice;
  readonly threads?: number | undefined;
  /** Of the initial weights. */
  readonly seed: number;
  /** A checkpoint folder to continue: weights, optimiser state and version. */
  readonly from?: string | undefined;
  /** A model whose device this one uses, too; it must be closed after this one. */
  readonly beside?: TrainablePolicy | undefined;
  /** Most tokens of a micro-batch, padding included. */
  readonly micro_tokens?: number | undefined;
  /** Most bytes of activations kept between forward and backward; 0 computes them twice. */
  readonly kept_bytes?: number | undefined;
  /** Most bytes of activations of one run; beyond, layers are computed one by one, and again on the way back. */
  readonly run_bytes?: number | undefined;
  /** Most floats of logits at once: more tokens than that go through the head in pieces. */
  readonly logits?: number | undefined;
}

const MICRO_TOKENS = 2048;
const KEPT_BYTES = 2 ** 30;
const RUN_BYTES = 2 ** 30;
const LOGITS = 2 ** 25;

/** The shape of a `tiny` model. @throws UserError where the numbers do not fit together. */
function tinyShape(model: ModelConfig, vocabulary: number): Shape {
  const { size } = model;
  const problem =
    size.width % size.heads !== 0
      ? `model.size.width (${size.width}) is not a multiple of heads (${size.heads})`
      : size.heads % size.kv_heads !== 0
        ? `model.size.heads (${size.heads}) is not a multiple of kv_heads (${size.kv_heads})`
        : (size.width / size.heads) % 2 !== 0
          ? `the width of a head, model.size.width / heads, is ${size.width / size.heads}, which is odd`
          : undefined;
  if (problem !== undefined)
    throw new UserError(`${problem}.`, {
      code: "model-size",
      action: "Change model.size so that heads divide the width evenly.",
    });
  const head_width = size.width / size.heads;
  return {
    ...size,
    vocabulary,
    head_width,
    rope_theta: 10_000,
    epsilon: 1e-5,
    style: llamaStyle(head_width),
  };
}

/** A base that is not `tiny`: a checkpoint of ours, or an error that names it. */
function checkpointBase(base: string): CheckpointHead {
  if (!existsSync(base)) {
    throw new UserError(`model.base names ${base}, which does not exist.`, {
      file: base,
      code: "model-missing",
      action: "Correct the path, or use base: tiny.",
    });
  }
  const unsupported = (kind: string): UserError =>
    new UserError(`model.base ${base} is ${kind}, which this version cannot train yet.`, {
      file: base,
      code: "model-unsupported",
      action: "Use base: tiny, or a checkpoint folder of an earlier run.",
    });
  if (!statSync(base).isDirectory()) throw unsupported(base.endsWith(".gguf") ? "a GGUF file" : "a file");
  if (!isCheckpoint(base))
    throw unsupported(
      existsSync(`${base}/config.json`) ? "a Hugging Face folder" : "a folder without a checkpoint",
    );
  return readCheckpointHead(base);
}

/** Size and tokenizer of the model, without loading anything heavy: what validation and `doctor` can ask. */
export function describeModel(
  model: ModelConfig,
  from?: string,
): { readonly shape: Shape; readonly tokenizer: string; readonly folder: string | undefined } {
  const folder = from ?? (model.base === "tiny" ? undefined : model.base);
  if (folder === undefined)
    return { shape: tinyShape(model, new CharacterTokenizer().size), tokenizer: "characters", folder };
  return { ...(from === undefined ? checkpointBase(folder) : readCheckpointHead(folder)), folder };
}

/**
 * Opens the policy on the chosen backend.
 *
 * @throws UserError for a base that is missing or of a kind that cannot be trained yet, a damaged checkpoint, or a
 * native backend that was asked for and does not load.
 */
export async function openPolicy(options: PolicyOptions): Promise<TrainablePolicy> {
  return openLanguageModel(options);
}

/** The same with the engine's own methods, for tests and benchmarks. */
export async function openLanguageModel(options: PolicyOptions): Promise<LanguageModel> {
  const { shape, tokenizer, folder } = describeModel(options.model, options.from);
  const weights = (): Record<string, Float32Array> =>
    folder === undefined ? initialWeights(shape, options.seed) : readWeights(folder, shape);
  const opened =
    options.beside?.share() ?? (await openBackend(options.backend, options.threads, parameterCount(shape)));
  const policy = new LanguageModel({
    ...opened,
    shape,
    tokenizer: tokenizerByName(tokenizer, folder ?? "tiny"),
    weights,
    heads: options.model.heads ?? [],
    adapter: options.model.adapter,
    seed: options.seed,
    optimizer: options.optimizer,
    micro_tokens: options.micro_tokens ?? MICRO_TOKENS,
    kept_bytes: options.kept_bytes ?? KEPT_BYTES,
    run_bytes: options.run_bytes ?? RUN_BYTES,
    logits: options.logits ?? LOGITS,
  });
  if (options.from !== undefined) await policy.load(options.from);
  return policy;
}
