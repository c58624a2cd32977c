/** The deepest models have some hundred; a file may say anything. */
const mostLayers = 4096;
/** What is read of a `config.json`: its keys, what each family takes where it is silent, and what is refused. */
import { limits, readText } from "../../../lib/inputFile.ts";
import { z } from "zod";
import { readFailure, UserError } from "../../../../shared/lib/errors.ts";
import type { Family } from "../../transformer/weights.ts";
import { familyName, featuresOf } from "./otherFamilies.ts";

const optional = <T extends z.ZodType>(type: T) => type.nullish();
const positive = z.int().positive();
/** What is read of a `config.json`, whatever the family. GPT-2's names are translated first. */
const schema = z.looseObject({
  model_type: z.string(),
  vocab_size: positive,
  hidden_size: positive,
  num_hidden_layers: positive.max(mostLayers),
  num_attention_heads: positive,
  num_key_value_heads: optional(positive),
  head_dim: optional(positive),
  intermediate_size: optional(positive),
  max_position_embeddings: optional(positive),
  rms_norm_eps: optional(z.number().positive()),
  layer_norm_epsilon: optional(z.number().positive()),
  tie_word_embeddings: optional(z.boolean()),
  attention_bias: optional(z.boolean()),
  query_pre_attn_scalar: optional(z.number().positive()),
  rope_theta: optional(z.number().positive()),
  rope_local_base_freq: optional(z.number().positive()),
  rope_scaling: optional(z.record(z.string(), z.unknown())),
  rope_parameters: optional(z.record(z.string(), z.unknown())),
  sliding_window: optional(positive),
  use_sliding_window: optional(z.boolean()),
  max_window_layers: optional(z.int().nonnegative()),
  sliding_window_pattern: optional(positive),
  layer_types: optional(z.array(z.string())),
});
export type Config = z.output<typeof schema>;

/** What a family takes where `config.json` is silent, as transformers does. */
export interface Defaults {
  readonly family: Family;
  readonly context: number;
  readonly tied: boolean;
  readonly rope_theta: number;
  /** Undefined: as many as there are heads. */
  readonly kv_heads?: number;
  /** Undefined: width / heads. */
  readonly head_width?: number;
  readonly window?: number;
}
export const models: Readonly<Record<string, Defaults>> = {
  llama: { family: "llama", context: 2048, tied: false, rope_theta: 10_000 },
  mistral: {
    family: "mistral",
    context: 131_072,
    tied: false,
    rope_theta: 10_000,
    kv_heads: 8,
    window: 4096,
  },
  qwen2: { family: "qwen2", context: 32_768, tied: false, rope_theta: 10_000, kv_heads: 32, window: 4096 },
  qwen3: {
    family: "qwen3",
    context: 32_768,
    tied: false,
    rope_theta: 10_000,
    kv_heads: 32,
    head_width: 128,
    window: 4096,
  },
  gemma3_text: {
    family: "gemma3",
    context: 131_072,
    tied: true,
    rope_theta: 1_000_000,
    kv_heads: 4,
    head_width: 256,
    window: 4096,
  },
  gpt2: { family: "gpt2", context: 1024, tied: true, rope_theta: 10_000 },
};

/** GPT-2's own names. */
const gptNames: Readonly<Record<string, string>> = {
  n_embd: "hidden_size",
  n_layer: "num_hidden_layers",
  n_head: "num_attention_heads",
  n_inner: "intermediate_size",
  n_positions: "max_position_embeddings",
};

/** Keys whose value must be one of these (absent or null counts as the first), by model type. */
type Wanted = Readonly<Record<string, readonly unknown[]>>;
const everywhere: Wanted = {
  quantization_config: [undefined],
  mlp_bias: [false],
  partial_rotary_factor: [1],
  attn_logit_softcapping: [undefined],
  final_logit_softcapping: [undefined],
  use_bidirectional_attention: [false],
  scale_attn_weights: [true],
  scale_attn_by_inverse_layer_idx: [false],
  add_cross_attention: [false],
};
/** What those keys ask for, in the field's words. */
const features: Readonly<Record<string, string>> = {
  quantization_config: "quantised weights",
  mlp_bias: "biases in the feed-forward layers",
  partial_rotary_factor: "rotary positions on a part of each head",
  attn_logit_softcapping: "soft-capped attention scores",
  final_logit_softcapping: "soft-capped logits",
  use_bidirectional_attention: "attention to later tokens",
  scale_attn_weights: "unscaled attention scores",
  scale_attn_by_inverse_layer_idx: "attention scaled by the layer's index",
  add_cross_attention: "cross-attention",
  hidden_act: "another activation function",
  hidden_activation: "another activation function",
  activation_function: "another activation function",
};
const activations: Readonly<Record<Family, Wanted>> = {
  llama: { hidden_act: ["silu", "swish"] },
  mistral: { hidden_act: ["silu", "swish"] },
  qwen2: { hidden_act: ["silu", "swish"] },
  qwen3: { hidden_act: ["silu", "swish"] },
  gemma3: { hidden_activation: ["gelu_pytorch_tanh"] },
  gpt2: { activation_function: ["gelu_new", "gelu_pytorch_tanh"] },
};

/** An error about one key. */
export const refusal = (file: string, key: string, problem: string): UserError =>
  new UserError(`${file}: ${key} ${problem}.`, {
    file,
    code: "model-unsupported",
    action: `Use a model of ${familiesInWords} without it.`,
  });

/** Of one key with a value that is not computed here. */
export const notComputed = (file: string, key: string, value: unknown, feature?: string): UserError =>
  refusal(
    file,
    key,
    `is ${brief(value)}${feature === undefined ? "" : ` (${feature})`}, which this engine does not compute`,
  );

/** A table in `config.json` by what it is called in: no message shows all of it. */
function brief(value: unknown): string {
  const named = z.looseObject({ quant_method: z.string() }).safeParse(value).data?.quant_method;
  const text = named === undefined ? JSON.stringify(value) : JSON.stringify(named);
  return text.length <= 60 ? text : `${text.slice(0, 57)}…`;
}

/** @throws UserError naming the first key that asks for what is not computed here */
export function checkFeatures(file: string, config: Config, family: Family): void {
  for (const [key, wanted] of Object.entries({ ...everywhere, ...activations[family] })) {
    const value = config[key] ?? wanted[0];
    if (!wanted.includes(value)) throw notComputed(file, key, value, features[key]);
  }
}

/** Llama (also SmolLM2 and TinyLlama), … */
const familiesInWords =
  "Llama (with SmolLM2 and TinyLlama), Mistral, Qwen 2 and 2.5, Qwen 3, Gemma 3 (text) or GPT-2";

/** @throws UserError naming a family that is not computed here, and what it has that this engine has not */
function checkFamily(file: string, config: Readonly<Record<string, unknown>>): void {
  const { model_type: type } = config;
  if (typeof type !== "string" || models[type] !== undefined) return;
  const found = featuresOf(config);
  throw new UserError(
    `${file}: model_type is ${type}, ${familyName(type)}, which this engine does not compute${found.length === 0 ? "" : `: it has ${found.join(", ")}`}.`,
    {
      file,
      code: "model-unsupported",
      action: `Use a model of another family: ${familiesInWords}.`,
    },
  );
}

/** @throws UserError naming the file and the keys that are missing or malformed */
export function parseConfig(file: string): Config {
  let json: unknown;
  try {
    json = JSON.parse(readText(file, limits.modelJson));
  } catch (error) {
    throw configError(file, readFailure(error), error);
  }
  const loose = z.looseObject({}).safeParse(json).data ?? {};
  checkFamily(file, loose);
  const named =
    loose["model_type"] === "gpt2"
      ? Object.fromEntries(Object.entries(loose).map(([key, value]) => [gptNames[key] ?? key, value]))
      : loose;
  const parsed = schema.safeParse(named);
  if (parsed.success) return parsed.data;
  const problem = parsed.error.issues.map((issue) => `${issue.path.join(".")}: ${issue.message}`).join("; ");
  throw configError(file, problem, parsed.error);
}
const configError = (file: string, problem: string, cause: unknown): UserError =>
  new UserError(`${file} does not describe a model: ${problem}.`, {
    file,
    code: "model-config",
    action: "Name a folder with a model's whole config.json.",
    cause,
  });
