/** Families that are not computed here: their names, and what of their `config.json` this engine has no counterpart for. */

/** By `model_type`; what is missing is called by its `model_type` alone. */
const names: Readonly<Record<string, string>> = {
  apertus: "Apertus",
  arcee: "Arcee",
  bert: "BERT, an encoder",
  bloom: "BLOOM",
  cohere: "Command R",
  cohere2: "Command R",
  deepseek_v2: "DeepSeek V2",
  deepseek_v3: "DeepSeek V3 or R1",
  ernie4_5: "ERNIE 4.5",
  exaone4: "EXAONE 4",
  falcon: "Falcon",
  falcon_h1: "Falcon H1",
  gemma: "Gemma 1",
  gemma2: "Gemma 2",
  gemma3: "Gemma 3 with pictures (4B and larger)",
  gemma3n: "Gemma 3n",
  glm: "GLM 4",
  glm4: "GLM 4",
  glm4_moe: "GLM 4.5",
  gpt_bigcode: "StarCoder",
  gpt_neo: "GPT-Neo",
  gpt_neox: "GPT-NeoX or Pythia",
  gpt_oss: "gpt-oss",
  gptj: "GPT-J",
  granite: "Granite",
  granitemoe: "Granite",
  granitemoehybrid: "Granite 4",
  lfm2: "LFM2",
  llama4: "Llama 4",
  llama4_text: "Llama 4",
  mamba: "Mamba",
  mamba2: "Mamba 2",
  minicpm: "MiniCPM",
  ministral: "Ministral",
  ministral3: "Ministral 3",
  mistral3: "Mistral Small 3 with pictures",
  mixtral: "Mixtral",
  mllama: "Llama 3.2 with pictures",
  mpt: "MPT",
  nemotron: "Nemotron",
  nemotron_h: "Nemotron H",
  olmo: "OLMo",
  olmo2: "OLMo 2",
  olmo3: "OLMo 3",
  olmoe: "OLMoE",
  opt: "OPT",
  phi: "Phi 1 or 2",
  phi3: "Phi 3 or Phi 4",
  phimoe: "Phi 3.5 MoE",
  qwen2_5_vl: "Qwen 2.5 VL",
  qwen2_moe: "Qwen 2 MoE",
  qwen2_vl: "Qwen 2 VL",
  qwen3_5: "Qwen 3.5",
  qwen3_5_moe: "Qwen 3.5 MoE",
  qwen3_5_text: "Qwen 3.5",
  qwen3_moe: "Qwen 3 MoE",
  qwen3_next: "Qwen 3 Next",
  qwen3_vl: "Qwen 3 VL",
  recurrent_gemma: "RecurrentGemma",
  rwkv: "RWKV",
  seed_oss: "Seed-OSS",
  smollm3: "SmolLM3",
  stablelm: "StableLM",
  starcoder2: "StarCoder 2",
  t5: "T5, an encoder and decoder",
};

export const familyName = (type: string): string =>
  names[type] === undefined ? "a family that this engine does not know" : `the family of ${names[type]}`;

type Json = Readonly<Record<string, unknown>>;
const isTable = (value: unknown): value is Json =>
  typeof value === "object" && value !== null && !Array.isArray(value);
const isNumber = (value: unknown): value is number => typeof value === "number";

/** Each by the keys that published models have for it. */
const signs: readonly (readonly [string, (config: Json) => boolean])[] = [
  [
    "a mixture of experts",
    (config) =>
      ["num_local_experts", "num_experts", "n_routed_experts", "moe_num_experts"].some(
        (key) => isNumber(config[key]) && config[key] > 1,
      ),
  ],
  ["a part for pictures", (config) => isTable(config["vision_config"])],
  ["a part for sound", (config) => isTable(config["audio_config"])],
  [
    "layers without attention",
    (config) =>
      Array.isArray(config["layer_types"]) &&
      config["layer_types"].some((type) => /conv|linear|mamba|recurrent/.test(String(type))),
  ],
  [
    "layers without rotary positions",
    (config) => Array.isArray(config["no_rope_layers"]) && config["no_rope_layers"].includes(0),
  ],
  ["soft-capped attention scores", (config) => isNumber(config["attn_logit_softcapping"])],
  ["soft-capped logits", (config) => isNumber(config["final_logit_softcapping"])],
  [
    "rotary positions on a part of each head",
    (config) => isNumber(config["partial_rotary_factor"]) && config["partial_rotary_factor"] !== 1,
  ],
  [
    "multipliers of embeddings, attention and logits",
    (config) => isNumber(config["residual_multiplier"]) || isNumber(config["logits_scaling"]),
  ],
  ["compressed keys and values", (config) => isNumber(config["kv_lora_rank"])],
  ["an encoder", (config) => config["is_encoder_decoder"] === true],
  ["quantised weights", (config) => isTable(config["quantization_config"])],
];

/** What a `config.json` asks for that no family here has; a multimodal one says it of its text. */
export function featuresOf(config: Json): string[] {
  const text = config["text_config"];
  const parts = isTable(text) ? [config, text] : [config];
  return signs.flatMap(([name, has]) => (parts.some(has) ? [name] : []));
}
