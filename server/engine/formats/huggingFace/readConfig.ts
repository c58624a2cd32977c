/** `config.json` → the shape of a model. */
import type { Family, Shape, Style } from "../../transformer/weights.ts";
import { checkFeatures, models, parseConfig, refusal, type Config } from "./config.ts";
import { ropeOf, windowOf } from "./positions.ts";

/** What the families differ in, positions apart. */
function styleOf(
  config: Config,
  family: Family,
  width: number,
  head: number,
): Omit<Style, "rope_scaling" | "window"> {
  const gemma = family === "gemma3";
  const gpt = family === "gpt2";
  const biased = config.attention_bias ?? false;
  return {
    family,
    norm: gpt ? "layer" : "rms",
    gain_offset: gemma ? 1 : 0,
    post_norms: gemma,
    qk_norm: gemma || family === "qwen3",
    activation: gemma || gpt ? "gelu" : "silu",
    gated: !gpt,
    // Mistral and Qwen2 know no attention_bias; Qwen2 always has those of queries, keys and values.
    bias: {
      qkv: gpt || family === "qwen2" || (biased && family !== "mistral"),
      out: gpt || (biased && family !== "mistral" && family !== "qwen2"),
      feed_forward: gpt,
    },
    positions: gpt ? "learned" : "rotary",
    embedding_scale: gemma ? Math.sqrt(width) : 1,
    query_scale: 1 / Math.sqrt(gemma ? (config.query_pre_attn_scalar ?? 256) : head),
  };
}

function checkSizes(file: string, shape: Shape): void {
  const { width, heads, kv_heads, head_width, style } = shape;
  if (!Number.isInteger(head_width))
    throw refusal(file, "hidden_size", `(${width}) is not a multiple of the number of heads (${heads})`);
  if (heads % kv_heads !== 0)
    throw refusal(
      file,
      "num_attention_heads",
      `(${heads}) is not a multiple of num_key_value_heads (${kv_heads})`,
    );
  if (style.positions === "rotary" && head_width % 2 !== 0)
    throw refusal(file, "head_dim", `is ${head_width}, which is odd`);
}

/**
 * The shape that a `config.json` describes, in the keys of transformers 4 or 5.
 *
 * @throws UserError naming the file and the key that is missing, malformed, or asks for what is not computed here.
 */
export function readConfig(file: string): Shape {
  const config = parseConfig(file);
  const defaults = models[config.model_type];
  if (defaults === undefined) throw new Error(`internal: the family ${config.model_type} was not refused`);
  const { family } = defaults;
  checkFeatures(file, config, family);
  const width = config.hidden_size;
  const heads = config.num_attention_heads;
  if (config.intermediate_size == null && family !== "gpt2")
    throw refusal(file, "intermediate_size", "is missing");
  const head_width =
    family === "gpt2" ? width / heads : (config.head_dim ?? defaults.head_width ?? width / heads);
  const { theta, scaling } = ropeOf(file, config, defaults);
  const shape: Shape = {
    vocabulary: config.vocab_size,
    width,
    layers: config.num_hidden_layers,
    heads,
    kv_heads: family === "gpt2" ? heads : (config.num_key_value_heads ?? defaults.kv_heads ?? heads),
    head_width,
    hidden: config.intermediate_size ?? 4 * width,
    context: config.max_position_embeddings ?? defaults.context,
    tied: config.tie_word_embeddings ?? defaults.tied,
    rope_theta: theta,
    epsilon: config.rms_norm_eps ?? config.layer_norm_epsilon ?? (family === "gpt2" ? 1e-5 : 1e-6),
    style: {
      ...styleOf(config, family, width, head_width),
      rope_scaling: scaling,
      window: windowOf(file, config, defaults, theta),
    },
  };
  checkSizes(file, shape);
  return shape;
}
