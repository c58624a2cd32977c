/** Opening the language model that a run trains. */
import { statSync } from "node:fs";
import { dirname, resolve } from "node:path";
import { UserError } from "../../shared/lib/errors.ts";
import type { OptimizerChoice } from "../core/slots/optimizer.ts";
import type { ModelConfig } from "../core/blocks/models.ts";
import { openBackend, type BackendChoice, type NativeOptions } from "./devices/backend.ts";
import { readCheckpointHead } from "./weights/checkpoint.ts";
import {
  baseOf,
  openBase,
  openWeights,
  readShape,
  readWeights,
  writeHuggingFace,
  type ModelHead,
  type WeightReader,
} from "./formats/index.ts";
import { readEvery } from "./formats/model.ts";
import { ample, isLean, type Budget } from "./memory.ts";
import { LanguageModel } from "./policy.ts";
import type { TrainablePolicy } from "./policySetup.ts";
import { take } from "../core/ops.ts";
import { tokenizerForTiny } from "./tokenizers/forTiny.ts";
import type { PolicyTokenizer } from "./tokenizers/types.ts";
import {
  initialWeight,
  llamaStyle,
  parameterCount,
  weightShapes,
  type Shape,
} from "./transformer/weights.ts";

export { probeBackend, type BackendProbe, type BackendChoice } from "./devices/backend.ts";
export { MOST_STREAMS, threadSettings } from "./devices/native.ts";
export { openBase } from "./formats/index.ts";
export type { Backend, TrainablePolicy } from "./policySetup.ts";

/** Bounds on working memory, which change no result. */
type Bounds = { readonly [Bound in keyof Budget]?: number | undefined };

export interface PolicyOptions extends Bounds {
  readonly model: ModelConfig;
  readonly optimizer: OptimizerChoice;
  readonly backend: BackendChoice;
  readonly threads?: number | undefined;
  /** Of the initial weights. */
  readonly seed: number;
  /** A checkpoint folder to continue: weights, optimiser state and version. */
  readonly from?: string | undefined;
  /** A model whose device this one uses, too; it must be closed after this one. */
  readonly sharesWith?: TrainablePolicy | undefined;
  readonly native?: NativeOptions | undefined;
  /** Holds nothing twice that can be read or computed again; by itself true of large models. */
  readonly lean?: boolean | undefined;
  /** What a new tiny model's vocabulary is learned from, where its config says so. */
  readonly texts?: (() => Iterable<string>) | undefined;
}

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

/** Size and tokenizer of the model, without loading anything heavy: what validation and `doctor` can ask. */
function describeModel(
  model: ModelConfig,
  from?: string,
  texts: () => Iterable<string> = () => [],
): {
  readonly shape: Shape;
  readonly tokenizer: PolicyTokenizer;
  /** Where the weights are; undefined: a `tiny` model, whose weights are drawn. */
  readonly head: ModelHead | undefined;
} {
  if (from === undefined && model.base === "tiny") {
    const tokenizer = tokenizerForTiny(model.tokenizer, texts);
    return { shape: tinyShape(model, tokenizer.size), tokenizer, head: undefined };
  }
  const head = from === undefined ? openBase(model.base) : readCheckpointHead(from);
  return { shape: head.shape, tokenizer: head.tokenizer, head };
}

/**
 * The size alone, as what is predicted of a run needs it: no tokenizer of a stored model is read, and no vocabulary
 * learned from a file (it has as many tokens as the config lets it have).
 */
export function describeShape(model: ModelConfig): Shape {
  if (model.base !== "tiny") return readShape(model.base);
  const { tokenizer } = model;
  const learned =
    tokenizer?.use === "bpe" &&
    tokenizer.file !== undefined &&
    statSync(tokenizer.file, { throwIfNoEntry: false })?.isFile() === true;
  return learned ? tinyShape(model, tokenizer.vocabulary) : describeModel(model).shape;
}

/**
 * Opens the policy on the chosen backend.
 *
 * @throws UserError for a base that is missing or asks for what is not computed here, a damaged checkpoint, or a
 * native backend that was asked for and does not load.
 */
export async function openPolicy(options: PolicyOptions): Promise<TrainablePolicy> {
  return openLanguageModel(options);
}

/** A base that a checkpoint carries itself goes with that checkpoint: others must carry it, too. */
const isInside = (path: string, folder: string | undefined): boolean =>
  folder !== undefined && dirname(resolve(path)) === resolve(folder);

/** Weights that are drawn when they are asked for. */
function initialReader(shape: Shape, seed: number): WeightReader {
  const extents = weightShapes(shape);
  return {
    read: (name, room) => initialWeight(shape, seed, name, take(extents, name), room),
    close: () => undefined,
  };
}

/**
 * The model that a run would begin with as a Hugging Face folder: the weights of a `tiny` one are those that a run of the seed
 * draws. Adapters are merged; a .gguf file's weights are written as numbers.
 * @throws UserError as `openPolicy` does
 */
export function writeInitialModel(
  folder: string,
  { model, seed, texts }: Pick<PolicyOptions, "model" | "seed" | "texts">,
): void {
  const { shape, tokenizer, head } = describeModel(model, undefined, texts);
  const initial = (): WeightReader => initialReader(shape, seed);
  const weights = head === undefined ? readEvery(shape, initial) : readWeights(head);
  writeHuggingFace(folder, { shape, weights, tokenizer });
}

/** The same with the engine's own methods, for tests and benchmarks. */
export async function openLanguageModel(options: PolicyOptions): Promise<LanguageModel> {
  const { shape, tokenizer, head } = describeModel(options.model, options.from, options.texts);
  const { adapter, heads = [] } = options.model;
  // A run that continues an adapter builds on that adapter's base, not on the two merged.
  const base = options.from === undefined || head === undefined ? head : (baseOf(head) ?? head);
  const weights = (): WeightReader =>
    base === undefined ? initialReader(shape, options.seed) : openWeights(base);
  const opened =
    options.sharesWith?.share() ??
    (await openBackend(options.backend, options.threads, parameterCount(shape), options.native));
  return new LanguageModel({
    ...opened,
    shape,
    tokenizer,
    weights,
    stored: base !== undefined,
    lean: options.lean ?? isLean(shape),
    from: options.from,
    heads,
    adapter,
    base: base === undefined || isInside(base.path, options.from) ? undefined : base.path,
    seed: options.seed,
    optimizer: options.optimizer,
    micro_tokens: options.micro_tokens ?? ample.micro_tokens,
    kept_bytes: options.kept_bytes ?? ample.kept_bytes,
    run_bytes: options.run_bytes ?? ample.run_bytes,
    logits: options.logits ?? ample.logits,
    cache_bytes: options.cache_bytes ?? ample.cache_bytes,
  });
}
