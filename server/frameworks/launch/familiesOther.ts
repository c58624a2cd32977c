/** Families of Google, Microsoft, Ai2, OpenAI and IBM. */
import * as template from "./chatTemplates.ts";
import { shape, type ModelFamily } from "./familyModel.ts";
import * as source from "./familySources.ts";

const gemma2: ModelFamily = {
  id: "gemma-2",
  name: "Gemma 2",
  makers: ["google"],
  architecture: { ropeBase: 10_000, context: 8192 },
  sizes: {
    "2b": shape(26, 2304, 9216, 8, 4, 256000),
    "9b": shape(42, 3584, 14336, 16, 8, 256000),
    "27b": shape(46, 4608, 36864, 32, 16, 256000),
  },
  variants: [
    { id: "base", names: ["gemma-2-{}"] },
    { id: "instruct", names: ["gemma-2-{}-it"], template: template.gemma2 },
  ],
  sources: [source.litgpt, source.mlc, source.trl, source.unsloth, source.llamafactory, source.swift],
};

/** Layers with a sliding window have a rotary base of their own. */
const gemma3: ModelFamily = {
  id: "gemma-3",
  name: "Gemma 3",
  makers: ["google"],
  sizes: {
    "270m": {},
    "1b": { ...shape(26, 1152, 6912, 4, 1, 262144), ropeBase: 1_000_000, context: 32768 },
    "4b": {
      layers: 34,
      hidden: 2560,
      ffn: 10240,
      heads: 8,
      kvHeads: 4,
      ropeBase: 1_000_000,
      localRopeBase: 10_000,
      context: 131072,
    },
    "12b": {
      layers: 48,
      hidden: 3840,
      ffn: 15360,
      heads: 16,
      kvHeads: 8,
      ropeBase: 1_000_000,
      localRopeBase: 10_000,
      context: 131072,
    },
    "27b": {
      layers: 62,
      hidden: 5376,
      ffn: 21504,
      heads: 32,
      kvHeads: 16,
      ropeBase: 1_000_000,
      localRopeBase: 10_000,
      context: 131072,
    },
  },
  variants: [
    { id: "base", names: ["gemma-3-{}-pt"], only: ["1b", "4b", "12b", "27b"] },
    { id: "smallest", names: ["gemma-3-{}"], only: ["270m"] },
    { id: "instruct", names: ["gemma-3-{}-it"], template: template.gemma3 },
  ],
  sources: [
    source.litgpt,
    source.mlc,
    source.maxtext,
    source.trl,
    source.unsloth,
    source.llamafactory,
    source.swift,
  ],
};

const phi3Mini = { ...shape(32, 3072, 8192, 32, 32, 32064), ropeBase: 10_000 };

const phi3: ModelFamily = {
  id: "phi-3",
  name: "Phi-3 and Phi-3.5",
  makers: ["microsoft"],
  sizes: {},
  variants: [
    {
      id: "mini-4k",
      names: ["Phi-3-mini-4k-instruct"],
      architecture: { ...phi3Mini, context: 4096 },
      template: template.phi3,
    },
    {
      id: "mini-128k",
      names: ["Phi-3-mini-128k-instruct"],
      architecture: { ...phi3Mini, context: 131072 },
      template: template.phi3,
    },
    {
      id: "medium",
      names: ["Phi-3-medium-4k-instruct", "Phi-3-medium-128k-instruct"],
      template: template.phi3,
    },
    {
      id: "3.5-mini",
      names: ["Phi-3.5-mini-instruct"],
      architecture: { ...phi3Mini, context: 131072, tied: false },
      template: template.phi3,
    },
  ],
  sources: [source.litgpt, source.mlc, source.trl, source.unsloth, source.llamafactory, source.swift],
};

const phi4: ModelFamily = {
  id: "phi-4",
  name: "Phi-4",
  makers: ["microsoft"],
  sizes: {},
  variants: [
    {
      id: "instruct",
      names: ["phi-4"],
      architecture: {
        ...shape(40, 5120, 17920, 40, 10, 100352),
        ropeBase: 250_000,
        context: 16384,
        tied: false,
      },
      template: template.phi4,
    },
    {
      id: "mini",
      names: ["Phi-4-mini-instruct"],
      architecture: {
        ...shape(32, 3072, 8192, 24, 8, 200064),
        ropeBase: 10_000,
        context: 131072,
        tied: true,
      },
      template: template.phi4Mini,
    },
  ],
  sources: [
    source.litgpt,
    source.litgptPrompts,
    source.mlc,
    source.printed,
    source.unsloth,
    source.llamafactory,
    source.swift,
  ],
};

const olmo2: ModelFamily = {
  id: "olmo-2",
  name: "OLMo 2",
  makers: ["allenai"],
  architecture: { ropeBase: 500_000, context: 4096, tied: false },
  // With the date of the release, as names have it.
  sizes: {
    "1124-7B": shape(32, 4096, 11008, 32, 32, 100352),
    "1124-13B": shape(40, 5120, 13824, 40, 40, 100352),
    "0325-32B": shape(64, 5120, 27648, 40, 8, 100352),
  },
  variants: [
    { id: "base", names: ["OLMo-2-{}"] },
    { id: "sft", names: ["OLMo-2-{}-SFT"] },
    { id: "dpo", names: ["OLMo-2-{}-DPO"] },
    { id: "instruct", names: ["OLMo-2-{}-Instruct"], template: template.olmo2 },
  ],
  sources: [source.litgpt, source.litgptPrompts, source.mlc],
};

const gptOss: ModelFamily = {
  id: "gpt-oss",
  name: "gpt-oss",
  makers: ["openai"],
  architecture: {
    hidden: 2880,
    ffn: 2880,
    heads: 64,
    kvHeads: 8,
    vocab: 201088,
    tied: false,
    ropeBase: 150_000,
    context: 131072,
  },
  sizes: { "20b": { layers: 24 }, "120b": { layers: 36 } },
  variants: [{ id: "instruct", names: ["gpt-oss-{}"], template: template.gptOss }],
  sources: [source.maxtext, source.miles, source.trl, source.unsloth, source.llamafactory, source.swift],
};

const granite3: ModelFamily = {
  id: "granite-3",
  name: "Granite 3",
  makers: ["ibm-granite"],
  // Release and size, as names have them.
  sizes: {
    "3.0-2b": {},
    "3.0-8b": {},
    "3.1-2b": {},
    "3.1-8b": {},
    "3.2-2b": {},
    "3.2-8b": {},
    "3.3-2b": {},
    "3.3-8b": {},
  },
  variants: [
    {
      id: "base",
      names: ["granite-{}-base"],
      only: ["3.0-2b", "3.0-8b", "3.1-2b", "3.1-8b", "3.3-2b", "3.3-8b"],
    },
    { id: "instruct", names: ["granite-{}-instruct"], template: template.granite3 },
  ],
  sources: [source.llamafactory],
};

export const otherFamilies: readonly ModelFamily[] = [gemma2, gemma3, phi3, phi4, olmo2, gptOss, granite3];
