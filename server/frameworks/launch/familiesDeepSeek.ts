/** DeepSeek's families of models, and those built as DeepSeek-V3 or beside it: Kimi, GLM, MiMo, InternLM, Yi. */
import * as template from "./chatTemplates.ts";
import { shape, type ModelFamily } from "./familyModel.ts";
import * as source from "./familySources.ts";

/** Shaped as Qwen2.5 or Qwen2.5-Math, with DeepSeek's template. */
const distillQwen: ModelFamily = {
  id: "deepseek-r1-distill-qwen",
  name: "DeepSeek-R1-Distill-Qwen",
  makers: ["deepseek-ai"],
  architecture: { context: 131072 },
  // The smaller two come from Qwen2.5-Math, and keep its rotary base; no source that we read has the larger two's.
  sizes: {
    "1.5B": { ...shape(28, 1536, 8960, 12, 2, 151936), tied: false, ropeBase: 10_000 },
    "7B": { ...shape(28, 3584, 18944, 28, 4, 152064), tied: false, ropeBase: 10_000 },
    "14B": { ...shape(48, 5120, 13824, 40, 8, 152064), tied: false },
    "32B": { ...shape(64, 5120, 27648, 40, 8, 152064), tied: false },
  },
  variants: [{ id: "thinking", names: ["DeepSeek-R1-Distill-Qwen-{}"], template: template.deepseekR1 }],
  sources: [source.printed, source.llamaCpp, source.llamafactory, source.swift],
};

const distillLlama: ModelFamily = {
  id: "deepseek-r1-distill-llama",
  name: "DeepSeek-R1-Distill-Llama",
  makers: ["deepseek-ai"],
  architecture: { ropeBase: 500_000, context: 131072 },
  sizes: {
    "8B": shape(32, 4096, 14336, 32, 8, 128256),
    "70B": shape(80, 8192, 28672, 64, 8, 128256),
  },
  variants: [{ id: "thinking", names: ["DeepSeek-R1-Distill-Llama-{}"], template: template.deepseekR1 }],
  sources: [source.litgpt, source.llamaCpp, source.printed, source.llamafactory, source.swift],
};

/** Later releases (V3.1, R1-0528) have other templates and are not here. */
const deepseekV3: ModelFamily = {
  id: "deepseek-v3",
  name: "DeepSeek-V3 and R1",
  makers: ["deepseek-ai"],
  architecture: {
    layers: 61,
    hidden: 7168,
    ffn: 18432,
    heads: 128,
    vocab: 129280,
    tied: false,
    ropeBase: 10_000,
    context: 163840,
  },
  sizes: {},
  variants: [
    { id: "base", names: ["DeepSeek-V3-Base"] },
    { id: "instruct", names: ["DeepSeek-V3", "DeepSeek-V3-0324"], template: template.deepseekV3 },
    { id: "thinking", names: ["DeepSeek-R1"], template: template.deepseekR1 },
  ],
  sources: [source.slime, source.maxtext, source.trl, source.llamafactory, source.swift],
};

const moonlight: ModelFamily = {
  id: "moonlight",
  name: "Moonlight",
  makers: ["moonshotai"],
  sizes: { "16B-A3B": { layers: 27, hidden: 2048, ffn: 11264, heads: 16, vocab: 163840, tied: false } },
  variants: [
    { id: "base", names: ["Moonlight-{}"] },
    { id: "instruct", names: ["Moonlight-{}-Instruct"], template: template.moonlight },
  ],
  sources: [source.slime, source.llamafactory, source.swift],
};

const kimiK2: ModelFamily = {
  id: "kimi-k2",
  name: "Kimi-K2",
  makers: ["moonshotai"],
  architecture: {
    layers: 61,
    hidden: 7168,
    ffn: 18432,
    heads: 64,
    vocab: 163840,
    tied: false,
    ropeBase: 50_000,
  },
  sizes: {},
  variants: [
    { id: "base", names: ["Kimi-K2-Base"] },
    {
      id: "instruct",
      names: ["Kimi-K2-Instruct"],
      architecture: { context: 131072 },
      template: template.kimiK2,
    },
    { id: "thinking", names: ["Kimi-K2-Thinking"] },
  ],
  sources: [source.slime, source.maxtext, source.llamaCpp, source.swift],
};

const zhipu = ["zai-org", "thudm", "zhipuai"];

const glm4: ModelFamily = {
  id: "glm-4",
  name: "GLM-4 of April 2025",
  makers: zhipu,
  architecture: { context: 32768 },
  sizes: {
    "9B": { ...shape(40, 4096, 13696, 32, 2, 151552), tied: false, ropeBase: 10_000 },
    "32B": { ...shape(64, 6144, 23040, 48, 8, 151552), tied: false },
  },
  variants: [
    { id: "base", names: ["GLM-4-{}-Base-0414"], only: ["32B"] },
    { id: "instruct", names: ["GLM-4-{}-0414"], template: template.glm4 },
  ],
  sources: [source.slime, source.miles, source.printed, source.llamafactory, source.swift],
};

const glm45: ModelFamily = {
  id: "glm-4.5",
  name: "GLM-4.5",
  makers: zhipu,
  architecture: { vocab: 151552, tied: false, ropeBase: 1_000_000, heads: 96, kvHeads: 8 },
  sizes: {},
  variants: [
    { id: "base", names: ["GLM-4.5-Base"], architecture: { layers: 92, hidden: 5120, ffn: 12288 } },
    {
      id: "hybrid",
      names: ["GLM-4.5"],
      architecture: { layers: 92, hidden: 5120, ffn: 12288 },
      template: template.glm45,
    },
    { id: "air-base", names: ["GLM-4.5-Air-Base"], architecture: { layers: 46, hidden: 4096, ffn: 10944 } },
    {
      id: "air",
      names: ["GLM-4.5-Air"],
      architecture: { layers: 46, hidden: 4096, ffn: 10944 },
      template: template.glm45,
    },
  ],
  sources: [
    source.slime,
    source.miles,
    source.primeRl,
    source.trl,
    source.llamaCpp,
    source.llamafactory,
    source.swift,
  ],
};

const mimo: ModelFamily = {
  id: "mimo",
  name: "MiMo",
  makers: ["xiaomimimo"],
  architecture: { ropeBase: 640_000, context: 32768, tied: false },
  sizes: { "7B": shape(36, 4096, 11008, 32, 8, 151680) },
  variants: [
    { id: "base", names: ["MiMo-{}-Base"] },
    { id: "instruct", names: ["MiMo-{}-SFT"], template: template.mimo },
    { id: "thinking", names: ["MiMo-{}-RL"], template: template.mimo },
  ],
  sources: [source.slime, source.miles, source.printed, source.llamafactory, source.swift],
};

const internLm25: ModelFamily = {
  id: "internlm2.5",
  name: "InternLM2.5",
  makers: ["internlm", "shanghai_ai_laboratory"],
  sizes: {
    "1_8b": {},
    "7b": {
      ...shape(32, 4096, 14336, 32, 8, 92544),
      tied: false,
      ropeBase: 1_000_000,
      context: 32768,
    },
    "20b": {},
  },
  variants: [
    { id: "base", names: ["internlm2_5-{}"] },
    { id: "instruct", names: ["internlm2_5-{}-chat"], template: template.internLm },
  ],
  sources: [source.mlc, source.llamafactory, source.swift],
};

const internLm3: ModelFamily = {
  id: "internlm3",
  name: "InternLM3",
  makers: ["internlm", "shanghai_ai_laboratory"],
  sizes: { "8b": {} },
  variants: [{ id: "instruct", names: ["internlm3-{}-instruct"], template: template.internLm }],
  sources: [source.llamafactory, source.swift],
};

const yi15: ModelFamily = {
  id: "yi-1.5",
  name: "Yi-1.5",
  makers: ["01-ai", "01ai"],
  sizes: { "6B": {}, "9B": {}, "34B": {} },
  variants: [
    { id: "base", names: ["Yi-1.5-{}"] },
    { id: "instruct", names: ["Yi-1.5-{}-Chat"], template: template.yi },
  ],
  sources: [source.llamafactory, source.swift],
};

export const deepseekFamilies: readonly ModelFamily[] = [
  distillQwen,
  distillLlama,
  deepseekV3,
  moonlight,
  kimiK2,
  glm4,
  glm45,
  mimo,
  internLm25,
  internLm3,
  yi15,
];
