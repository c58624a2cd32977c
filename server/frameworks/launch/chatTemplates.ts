/** Chat templates of model families: what stands before and after a turn, and who writes the thought's first tag. */

/**
 * Who writes `<think>`.
 * `prefilled`: the generation prompt ends with it, so a response holds only `</think>`.
 * `closed`: unless asked to think, the generation prompt ends with an empty thought, so a response holds no tag.
 * `own`: the model writes it, unless thinking is switched off.
 * `none`: the model was not trained to write it.
 */
export type Think = "prefilled" | "closed" | "own" | "none";

/** Trainers that name chat templates. */
export type TemplateTrainer = "unsloth" | "llamafactory" | "swift";

/** A template's texts. */
export interface ChatTemplate {
  /** What stands before a user's turn. */
  readonly user: string;
  /** What stands before an assistant's turn: the generation prompt without a thought. */
  readonly assistant: string;
  /** Tokens that end an assistant's turn. */
  readonly endOfTurn: readonly string[];
  /** The tokenizer's `eos_token`. */
  readonly eos?: string;
  /** The tokenizer's `pad_token`, as the makers publish it; other uploads often have another. */
  readonly pad?: string;
  readonly think?: Think;
  /** What trainers call it. */
  readonly names?: Readonly<Partial<Record<TemplateTrainer, readonly string[]>>>;
}

const chatml = {
  user: "<|im_start|>user\n",
  assistant: "<|im_start|>assistant\n",
  endOfTurn: ["<|im_end|>"],
};
const qwen: ChatTemplate = { ...chatml, eos: "<|im_end|>" };
const qwenPadded: ChatTemplate = { ...qwen, pad: "<|endoftext|>" };

export const qwen25: ChatTemplate = {
  ...qwenPadded,
  think: "none",
  names: {
    unsloth: ["qwen-2.5", "qwen-25", "qwen25", "qwen2.5"],
    llamafactory: ["qwen"],
    swift: ["qwen2_5"],
  },
};
/** Base models carry a chat template, and end a text with a token that the template does not write. */
export const qwen25Base: ChatTemplate = {
  ...chatml,
  eos: "<|endoftext|>",
  pad: "<|endoftext|>",
  think: "none",
};
export const qwen25Coder: ChatTemplate = { ...chatml, think: "none" };
export const qwen25Math: ChatTemplate = { ...chatml, think: "none", names: { swift: ["qwen2_5_math"] } };
export const qwen25Vl: ChatTemplate = {
  ...qwenPadded,
  think: "none",
  names: { llamafactory: ["qwen2_vl"], swift: ["qwen2_5_vl"] },
};
export const qwq: ChatTemplate = { ...chatml, think: "prefilled", names: { swift: ["qwq"] } };
export const qwen3: ChatTemplate = {
  ...qwen,
  think: "own",
  names: { unsloth: ["qwen-3", "qwen3"], llamafactory: ["qwen3"], swift: ["qwen3"] },
};
export const qwen3Instruct: ChatTemplate = {
  ...qwenPadded,
  think: "none",
  names: { unsloth: ["qwen3-instruct"], llamafactory: ["qwen3_nothink"], swift: ["qwen3_nothinking"] },
};
export const qwen3Thinking: ChatTemplate = {
  ...qwen,
  think: "prefilled",
  names: { unsloth: ["qwen3-thinking"], swift: ["qwen3_thinking"] },
};
export const qwen35: ChatTemplate = { ...chatml, think: "prefilled", names: { llamafactory: ["qwen3_5"] } };
export const qwen35Small: ChatTemplate = {
  ...chatml,
  think: "closed",
  names: { llamafactory: ["qwen3_5_nothink"] },
};
export const qwen36: ChatTemplate = { ...chatml, think: "prefilled", names: { llamafactory: ["qwen3_6"] } };

const deepseek: ChatTemplate = {
  user: "<｜User｜>",
  assistant: "<｜Assistant｜>",
  endOfTurn: ["<｜end▁of▁sentence｜>"],
  eos: "<｜end▁of▁sentence｜>",
};
export const deepseekV3: ChatTemplate = {
  ...deepseek,
  think: "none",
  names: { llamafactory: ["deepseek3"], swift: ["deepseek_v2_5"] },
};
/** Copies of the first weeks (January 2025) do not yet write the tag. */
export const deepseekR1: ChatTemplate = {
  ...deepseek,
  think: "prefilled",
  names: { llamafactory: ["deepseekr1"], swift: ["deepseek_r1"] },
};

const moonshot: ChatTemplate = {
  user: "<|im_user|>user<|im_middle|>",
  assistant: "<|im_assistant|>assistant<|im_middle|>",
  endOfTurn: ["<|im_end|>"],
};
export const moonlight: ChatTemplate = {
  ...moonshot,
  think: "none",
  names: { llamafactory: ["moonlight"], swift: ["moonlight"] },
};
export const kimiK2: ChatTemplate = { ...moonshot, think: "none", names: { swift: ["kimi_k2"] } };

const glm: ChatTemplate = {
  user: "<|user|>\n",
  assistant: "<|assistant|>",
  endOfTurn: ["<|user|>", "<|observation|>", "<|endoftext|>"],
};
export const glm4: ChatTemplate = {
  ...glm,
  names: { llamafactory: ["glm4"], swift: ["glm4"] },
};
export const glm45: ChatTemplate = {
  ...glm,
  think: "own",
  names: { llamafactory: ["glm4_moe"], swift: ["glm4_5"] },
};

export const mimo: ChatTemplate = { ...chatml, names: { llamafactory: ["mimo"], swift: ["mimo_rl"] } };
export const internLm: ChatTemplate = {
  ...chatml,
  names: { llamafactory: ["intern2"], swift: ["internlm2"] },
};
export const yi: ChatTemplate = { ...chatml, think: "none", names: { llamafactory: ["yi"] } };
export const smolLm2: ChatTemplate = { ...chatml, think: "none", names: { llamafactory: ["smollm2"] } };
/** Thoughts go to a channel of their own, without a tag. */
export const gptOss: ChatTemplate = {
  user: "<|start|>user<|message|>",
  assistant: "<|start|>assistant",
  endOfTurn: ["<|end|>", "<|return|>"],
  names: { unsloth: ["gpt-oss", "gptoss"], llamafactory: ["gpt_oss"], swift: ["gpt_oss"] },
};

export const llama2: ChatTemplate = {
  user: "[INST]",
  assistant: "[/INST]",
  endOfTurn: ["</s>"],
  think: "none",
  names: { unsloth: ["llama"], llamafactory: ["llama2"], swift: ["llama"] },
};
const llamaHeaders: ChatTemplate = {
  user: "<|start_header_id|>user<|end_header_id|>\n\n",
  assistant: "<|start_header_id|>assistant<|end_header_id|>\n\n",
  endOfTurn: ["<|eot_id|>"],
  think: "none",
};
export const llama3: ChatTemplate = {
  ...llamaHeaders,
  names: { unsloth: ["llama-3", "llama3"], llamafactory: ["llama3"], swift: ["llama3"] },
};
/** Of 3.1, 3.2 and 3.3. */
export const llama31: ChatTemplate = {
  ...llamaHeaders,
  endOfTurn: ["<|eot_id|>", "<|eom_id|>"],
  names: {
    unsloth: ["llama-3.1", "llama-31", "llama-3.2", "llama-32", "llama-3.3", "llama-33"],
    swift: ["llama3_2"],
  },
};
/** Releases differ in the spaces around the markers, which tokenizers fold into the text beside them. */
const instructed: ChatTemplate = {
  user: "[INST]",
  assistant: "[/INST]",
  endOfTurn: ["</s>"],
  think: "none",
};
export const mistral: ChatTemplate = {
  ...instructed,
  names: { unsloth: ["mistral"], llamafactory: ["mistral"] },
};
export const mistralNemo: ChatTemplate = {
  ...instructed,
  names: { llamafactory: ["ministral"], swift: ["mistral_nemo"] },
};
export const ministral3: ChatTemplate = {
  ...instructed,
  names: { llamafactory: ["ministral3"], swift: ["mistral_2512"] },
};

const gemma: ChatTemplate = {
  user: "<start_of_turn>user\n",
  assistant: "<start_of_turn>model\n",
  endOfTurn: ["<end_of_turn>"],
  think: "none",
};
export const gemma2: ChatTemplate = {
  ...gemma,
  names: { unsloth: ["gemma", "gemma2"], llamafactory: ["gemma", "gemma2"], swift: ["gemma"] },
};
export const gemma3: ChatTemplate = {
  ...gemma,
  names: {
    unsloth: ["gemma-3", "gemma3"],
    llamafactory: ["gemma3"],
    swift: ["gemma3_text", "gemma3_vision"],
  },
};

export const phi3: ChatTemplate = {
  user: "<|user|>\n",
  assistant: "<|assistant|>\n",
  endOfTurn: ["<|end|>"],
  think: "none",
  names: { unsloth: ["phi-3", "phi-35", "phi-3.5"], llamafactory: ["phi"], swift: ["phi3"] },
};
export const phi4: ChatTemplate = {
  user: "<|im_start|>user<|im_sep|>",
  assistant: "<|im_start|>assistant<|im_sep|>",
  endOfTurn: ["<|im_end|>"],
  think: "none",
  names: { unsloth: ["phi-4"], llamafactory: ["phi4"], swift: ["phi4"] },
};
export const phi4Mini: ChatTemplate = {
  user: "<|user|>",
  assistant: "<|assistant|>",
  endOfTurn: ["<|end|>"],
  think: "none",
  names: { llamafactory: ["phi4_mini"] },
};

const roleLines: ChatTemplate = {
  user: "<|user|>\n",
  assistant: "<|assistant|>\n",
  endOfTurn: ["<|endoftext|>"],
  think: "none",
};
export const olmo2: ChatTemplate = roleLines;
export const falcon3: ChatTemplate = roleLines;
export const tinyLlama: ChatTemplate = { ...roleLines, endOfTurn: ["</s>"] };
export const granite3: ChatTemplate = {
  user: "<|start_of_role|>user<|end_of_role|>",
  assistant: "<|start_of_role|>assistant<|end_of_role|>",
  endOfTurn: ["<|end_of_text|>"],
  names: { llamafactory: ["granite3"] },
};
