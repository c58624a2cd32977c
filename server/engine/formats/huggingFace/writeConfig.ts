/** The shape of a model → `config.json`, as transformers reads it. */
import type { PolicyTokenizer } from "../../tokenizers/types.ts";
import type { Family, Shape } from "../../transformer/weights.ts";
import { ropeKeys, windowKeys } from "./positions.ts";

const names: Readonly<Record<Family, { readonly model_type: string; readonly architecture: string }>> = {
  llama: { model_type: "llama", architecture: "LlamaForCausalLM" },
  mistral: { model_type: "mistral", architecture: "MistralForCausalLM" },
  qwen2: { model_type: "qwen2", architecture: "Qwen2ForCausalLM" },
  qwen3: { model_type: "qwen3", architecture: "Qwen3ForCausalLM" },
  gemma3: { model_type: "gemma3_text", architecture: "Gemma3ForCausalLM" },
  gpt2: { model_type: "gpt2", architecture: "GPT2LMHeadModel" },
};

function gptSizes(shape: Shape): Record<string, unknown> {
  return {
    activation_function: "gelu_new",
    vocab_size: shape.vocabulary,
    n_embd: shape.width,
    n_layer: shape.layers,
    n_head: shape.heads,
    n_inner: shape.hidden,
    n_positions: shape.context,
    layer_norm_epsilon: shape.epsilon,
    tie_word_embeddings: shape.tied,
    // Dropout is of training by other programs; this engine has none.
    resid_pdrop: 0,
    embd_pdrop: 0,
    attn_pdrop: 0,
  };
}
function llamaSizes(shape: Shape): Record<string, unknown> {
  const { family, bias, query_scale } = shape.style;
  const gemma = family === "gemma3";
  return {
    [gemma ? "hidden_activation" : "hidden_act"]: gemma ? "gelu_pytorch_tanh" : "silu",
    vocab_size: shape.vocabulary,
    hidden_size: shape.width,
    num_hidden_layers: shape.layers,
    num_attention_heads: shape.heads,
    num_key_value_heads: shape.kv_heads,
    head_dim: shape.head_width,
    intermediate_size: shape.hidden,
    max_position_embeddings: shape.context,
    tie_word_embeddings: shape.tied,
    rms_norm_eps: shape.epsilon,
    ...(family === "mistral" || family === "qwen2" ? {} : { attention_bias: bias.qkv }),
    // The inverse of 1/√scalar, without the noise of its last digits.
    ...(gemma ? { query_pre_attn_scalar: Number((1 / query_scale ** 2).toPrecision(12)) } : {}),
    ...ropeKeys(shape),
    ...windowKeys(shape),
  };
}

export function configOf(shape: Shape, tokenizer: PolicyTokenizer): Record<string, unknown> {
  const { model_type, architecture } = names[shape.style.family];
  const { eosAll, eos } = tokenizer;
  return {
    architectures: [architecture],
    model_type,
    torch_dtype: "float32",
    bos_token_id: tokenizer.bos,
    eos_token_id: eosAll.length > 1 ? [...eosAll] : eos,
    pad_token_id: tokenizer.pad,
    ...(shape.style.family === "gpt2" ? gptSizes(shape) : llamaSizes(shape)),
  };
}
