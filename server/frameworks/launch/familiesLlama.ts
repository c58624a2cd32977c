/** Meta's families of models, and those shaped alike: Mistral, SmolLM, TinyLlama, Falcon3. */
import * as template from "./chatTemplates.ts";
import { shape, type ModelFamily } from "./familyModel.ts";
import * as source from "./familySources.ts";

const meta = ["meta-llama"];

/** Its published context changed after the release, so it is left out. */
const llama2: ModelFamily = {
  id: "llama-2",
  name: "Llama 2",
  makers: meta,
  architecture: { ropeBase: 10_000, tied: false },
  sizes: {
    "7b": shape(32, 4096, 11008, 32, 32, 32000),
    "13b": shape(40, 5120, 13824, 40, 40, 32000),
    "70b": shape(80, 8192, 28672, 64, 8, 32000),
  },
  variants: [
    { id: "base", names: ["Llama-2-{}-hf"] },
    { id: "instruct", names: ["Llama-2-{}-chat-hf"], template: template.llama2 },
  ],
  sources: [source.litgpt, source.mlc, source.unslothMarkers, source.llamafactory, source.swift],
};

const llama3: ModelFamily = {
  id: "llama-3",
  name: "Llama 3",
  makers: meta,
  architecture: { ropeBase: 500_000, context: 8192 },
  sizes: {
    "8B": { ...shape(32, 4096, 14336, 32, 8, 128256), tied: false },
    "70B": shape(80, 8192, 28672, 64, 8, 128256),
  },
  variants: [
    { id: "base", names: ["Meta-Llama-3-{}", "Llama-3-{}"] },
    {
      id: "instruct",
      names: ["Meta-Llama-3-{}-Instruct", "Llama-3-{}-Instruct"],
      template: template.llama3,
    },
  ],
  sources: [source.litgpt, source.maxtext, source.trl, source.unsloth, source.llamafactory, source.swift],
};

const llama31: ModelFamily = {
  id: "llama-3.1",
  name: "Llama 3.1",
  makers: meta,
  architecture: { ropeBase: 500_000, context: 131072 },
  sizes: {
    "8B": { ...shape(32, 4096, 14336, 32, 8, 128256), tied: false },
    "70B": { ...shape(80, 8192, 28672, 64, 8, 128256), tied: false },
    "405B": shape(126, 16384, 53248, 128, 8, 128256),
  },
  variants: [
    { id: "base", names: ["Llama-3.1-{}", "Meta-Llama-3.1-{}"] },
    {
      id: "instruct",
      names: ["Llama-3.1-{}-Instruct", "Meta-Llama-3.1-{}-Instruct"],
      template: template.llama31,
    },
  ],
  sources: [
    source.litgpt,
    source.mlc,
    source.maxtext,
    source.slime,
    source.trl,
    source.unsloth,
    source.swift,
  ],
};

const llama32: ModelFamily = {
  id: "llama-3.2",
  name: "Llama 3.2",
  makers: meta,
  architecture: { ropeBase: 500_000, context: 131072, tied: true },
  sizes: {
    "1B": shape(16, 2048, 8192, 32, 8, 128256),
    "3B": shape(28, 3072, 8192, 24, 8, 128256),
  },
  variants: [
    { id: "base", names: ["Llama-3.2-{}"] },
    { id: "instruct", names: ["Llama-3.2-{}-Instruct"], template: template.llama31 },
  ],
  sources: [source.litgpt, source.mlc, source.slime, source.trl, source.unsloth, source.swift],
};

const llama33: ModelFamily = {
  id: "llama-3.3",
  name: "Llama 3.3",
  makers: meta,
  architecture: { ropeBase: 500_000, context: 131072, tied: false },
  sizes: { "70B": shape(80, 8192, 28672, 64, 8, 128256) },
  variants: [{ id: "instruct", names: ["Llama-3.3-{}-Instruct"], template: template.llama31 }],
  sources: [source.litgpt, source.maxtext, source.unsloth, source.swift],
};

const mistralAi = ["mistralai"];

const mistral7B: ModelFamily = {
  id: "mistral-7b",
  name: "Mistral 7B",
  makers: mistralAi,
  architecture: { context: 32768, tied: false },
  // Releases, which names put at their end.
  sizes: {
    "v0.1": { ...shape(32, 4096, 14336, 32, 8, 32000), ropeBase: 10_000 },
    "v0.2": { ...shape(32, 4096, 14336, 32, 8, 32000), ropeBase: 1_000_000 },
    "v0.3": { ...shape(32, 4096, 14336, 32, 8, 32768), ropeBase: 1_000_000 },
  },
  variants: [
    { id: "base", names: ["Mistral-7B-{}"] },
    { id: "instruct", names: ["Mistral-7B-Instruct-{}"], template: template.mistral },
  ],
  sources: [source.litgpt, source.mlc, source.printed, source.unslothMarkers, source.llamafactory],
};

const mistralNemo: ModelFamily = {
  id: "mistral-nemo",
  name: "Mistral Nemo",
  makers: mistralAi,
  architecture: { ...shape(40, 5120, 14336, 32, 8, 131072), ropeBase: 1_000_000, tied: false },
  sizes: {},
  variants: [
    { id: "base", names: ["Mistral-Nemo-Base-2407"], architecture: { context: 128000 } },
    { id: "instruct", names: ["Mistral-Nemo-Instruct-2407"], template: template.mistralNemo },
  ],
  sources: [source.printed, source.llamafactory, source.swift],
};

const ministral: ModelFamily = {
  id: "ministral",
  name: "Ministral",
  makers: mistralAi,
  sizes: { "8B": {} },
  variants: [{ id: "instruct", names: ["Ministral-{}-Instruct-2410"], template: template.mistralNemo }],
  sources: [source.llamafactory, source.swift],
};

const ministral3: ModelFamily = {
  id: "ministral-3",
  name: "Ministral 3",
  makers: mistralAi,
  sizes: {
    "3B": {
      ...shape(26, 3072, 9216, 32, 8, 131072),
      tied: true,
      ropeBase: 1_000_000,
      context: 262144,
    },
    "8B": {},
    "14B": {},
  },
  variants: [
    { id: "base", names: ["Ministral-3-{}-Base-2512"] },
    { id: "instruct", names: ["Ministral-3-{}-Instruct-2512"], template: template.ministral3 },
  ],
  sources: [source.mlc, source.llamafactory, source.swift],
};

const smolLm2: ModelFamily = {
  id: "smollm2",
  name: "SmolLM2",
  makers: ["huggingfacetb"],
  architecture: { context: 8192, tied: true },
  sizes: {
    "135M": { ...shape(30, 576, 1536, 9, 3, 49152), ropeBase: 100_000 },
    "360M": { ...shape(32, 960, 2560, 15, 5, 49152), ropeBase: 100_000 },
    "1.7B": { ...shape(24, 2048, 8192, 32, 32, 49152), ropeBase: 130_000 },
  },
  variants: [
    { id: "base", names: ["SmolLM2-{}"] },
    { id: "instruct", names: ["SmolLM2-{}-Instruct"], template: template.smolLm2 },
  ],
  sources: [source.litgpt, source.litgptPrompts, source.mlc, source.printed, source.llamafactory],
};

/** Every fourth layer has no rotary embedding. */
const smolLm3: ModelFamily = {
  id: "smollm3",
  name: "SmolLM3",
  makers: ["huggingfacetb"],
  architecture: { ropeBase: 5_000_000, tied: true },
  sizes: { "3B": shape(36, 2048, 11008, 16, 4, 128256) },
  variants: [
    { id: "base", names: ["SmolLM3-{}-Base"] },
    { id: "hybrid", names: ["SmolLM3-{}"], architecture: { context: 65536, longContext: 131072 } },
  ],
  sources: [source.printed, source.cards],
};

const tinyLlama: ModelFamily = {
  id: "tinyllama",
  name: "TinyLlama",
  makers: ["tinyllama"],
  architecture: { ropeBase: 10_000, context: 2048, tied: false },
  sizes: { "1.1B": shape(22, 2048, 5632, 32, 4, 32000) },
  variants: [
    { id: "base", names: ["TinyLlama-{}-intermediate-step-1431k-3T"] },
    { id: "instruct", names: ["TinyLlama-{}-Chat-v1.0"], template: template.tinyLlama },
  ],
  sources: [source.litgpt, source.litgptPrompts, source.mlc],
};

const falcon3: ModelFamily = {
  id: "falcon3",
  name: "Falcon3",
  makers: ["tiiuae"],
  architecture: { ropeBase: 1_000_042 },
  sizes: {
    "1B": shape(18, 2048, 8192, 8, 4, 131072),
    "3B": { ...shape(22, 3072, 9216, 12, 4, 131072), context: 32768 },
    "7B": { ...shape(28, 3072, 23040, 12, 4, 131072), context: 32768 },
    "10B": { ...shape(40, 3072, 23040, 12, 4, 131072), context: 32768 },
  },
  variants: [
    { id: "base", names: ["Falcon3-{}-Base"] },
    { id: "instruct", names: ["Falcon3-{}-Instruct"], template: template.falcon3 },
  ],
  sources: [source.litgpt, source.litgptPrompts, source.printed],
};

export const llamaFamilies: readonly ModelFamily[] = [
  llama2,
  llama3,
  llama31,
  llama32,
  llama33,
  mistral7B,
  mistralNemo,
  ministral,
  ministral3,
  smolLm2,
  smolLm3,
  tinyLlama,
  falcon3,
];
