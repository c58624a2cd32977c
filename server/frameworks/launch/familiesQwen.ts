/** Qwen's families of models, and QwQ. */
import * as template from "./chatTemplates.ts";
import { shape, type Architecture, type ModelFamily } from "./familyModel.ts";
import * as source from "./familySources.ts";

const makers = ["qwen"];
const million = 1_000_000;

const sizes25: Readonly<Record<string, Architecture>> = {
  "0.5B": { ...shape(24, 896, 4864, 14, 2, 151936), tied: true },
  "1.5B": { ...shape(28, 1536, 8960, 12, 2, 151936), tied: true },
  "3B": { ...shape(36, 2048, 11008, 16, 2, 151936), tied: true },
  "7B": { ...shape(28, 3584, 18944, 28, 4, 152064), tied: false },
  "14B": { ...shape(48, 5120, 13824, 40, 8, 152064), tied: false },
  "32B": { ...shape(64, 5120, 27648, 40, 8, 152064), tied: false },
  "72B": shape(80, 8192, 29568, 64, 8, 152064),
};

const pick = (sizes: Readonly<Record<string, Architecture>>, ...names: readonly string[]) =>
  Object.fromEntries(names.map((name) => [name, sizes[name] ?? {}]));

const qwen25: ModelFamily = {
  id: "qwen2.5",
  name: "Qwen2.5",
  makers,
  architecture: { ropeBase: million },
  sizes: sizes25,
  variants: [
    {
      id: "base",
      names: ["Qwen2.5-{}"],
      architecture: { context: 131072 },
      bySize: { "0.5B": { context: 32768 }, "3B": { context: 32768 } },
      template: template.qwen25Base,
    },
    {
      id: "instruct",
      names: ["Qwen2.5-{}-Instruct"],
      // The larger two sizes' own number is in no source that we read.
      bySize: {
        "0.5B": { context: 32768 },
        "1.5B": { context: 32768 },
        "3B": { context: 32768 },
        "7B": { context: 32768, longContext: 131072 },
        "14B": { context: 32768, longContext: 131072 },
      },
      template: template.qwen25,
    },
  ],
  sources: [
    source.litgpt,
    source.mlc,
    source.maxtext,
    source.slime,
    source.printed,
    source.cards,
    source.trl,
    source.trlSft,
    source.qwenEos,
    source.unsloth,
    source.llamafactory,
    source.swift,
  ],
};

const qwen25Coder: ModelFamily = {
  id: "qwen2.5-coder",
  name: "Qwen2.5-Coder",
  makers,
  architecture: { ropeBase: million, context: 32768 },
  sizes: pick(sizes25, "0.5B", "1.5B", "3B", "7B", "14B", "32B"),
  variants: [
    { id: "base", names: ["Qwen2.5-Coder-{}"], bySize: { "7B": { longContext: 131072 } } },
    { id: "instruct", names: ["Qwen2.5-Coder-{}-Instruct"], template: template.qwen25Coder },
  ],
  sources: [source.litgpt, source.cards, source.unslothMarkers, source.swift],
};

/** Its rotary base is not that of Qwen2.5, and its context is short. */
const qwen25Math: ModelFamily = {
  id: "qwen2.5-math",
  name: "Qwen2.5-Math",
  makers,
  architecture: { ropeBase: 10_000, context: 4096 },
  // Whether the smallest has an output layer of its own is in no source that we read.
  sizes: {
    "1.5B": shape(28, 1536, 8960, 12, 2, 151936),
    "7B": shape(28, 3584, 18944, 28, 4, 152064),
    "72B": shape(80, 8192, 29568, 64, 8, 152064),
  },
  variants: [
    { id: "base", names: ["Qwen2.5-Math-{}"] },
    { id: "instruct", names: ["Qwen2.5-Math-{}-Instruct"], template: template.qwen25Math },
  ],
  sources: [source.litgpt, source.printed, source.unslothMarkers, source.swift],
};

const qwen25Vl: ModelFamily = {
  id: "qwen2.5-vl",
  name: "Qwen2.5-VL",
  makers,
  sizes: { "3B": {}, "7B": {}, "32B": {}, "72B": {} },
  variants: [{ id: "instruct", names: ["Qwen2.5-VL-{}-Instruct"], template: template.qwen25Vl }],
  sources: [source.trl, source.printed, source.llamafactory, source.swift],
};

const qwq: ModelFamily = {
  id: "qwq",
  name: "QwQ",
  makers,
  architecture: { ropeBase: million },
  sizes: { "32B": shape(64, 5120, 27648, 40, 8, 152064) },
  // The release's context changed between revisions of its card.
  variants: [
    { id: "thinking", names: ["QwQ-{}"], template: template.qwq },
    { id: "preview", names: ["QwQ-{}-Preview"], architecture: { context: 32768, tied: false } },
  ],
  sources: [source.litgpt, source.printed, source.cards, source.swift],
};

const sizes3: Readonly<Record<string, Architecture>> = {
  "0.6B": { ...shape(28, 1024, 3072, 16, 8, 151936), tied: true },
  "1.7B": { ...shape(28, 2048, 6144, 16, 8, 151936), tied: true },
  "4B": { ...shape(36, 2560, 9728, 32, 8, 151936), tied: true },
  "8B": { ...shape(36, 4096, 12288, 32, 8, 151936), tied: false },
  "14B": { ...shape(40, 5120, 17408, 40, 8, 151936), tied: false },
  "32B": { ...shape(64, 5120, 25600, 64, 8, 151936), tied: false },
  "30B-A3B": { ...shape(48, 2048, 6144, 32, 4, 151936), tied: false },
  "235B-A22B": { ...shape(94, 4096, 12288, 64, 4, 151936), tied: false },
};

const qwen3: ModelFamily = {
  id: "qwen3",
  name: "Qwen3",
  makers,
  architecture: { ropeBase: million },
  sizes: sizes3,
  variants: [
    {
      id: "base",
      names: ["Qwen3-{}-Base"],
      only: ["0.6B", "1.7B", "4B", "8B", "14B", "30B-A3B"],
      bySize: { "30B-A3B": { context: 32768 } },
    },
    {
      id: "hybrid",
      names: ["Qwen3-{}"],
      architecture: { context: 40960 },
      bySize: { "8B": { longContext: 131072 } },
      template: template.qwen3,
    },
  ],
  sources: [
    source.litgpt,
    source.mlc,
    source.maxtext,
    source.slime,
    source.cards,
    source.trl,
    source.unsloth,
    source.llamafactory,
    source.swift,
  ],
};

/** The same shapes with another rotary base, and no switch for thinking. */
const qwen32507: ModelFamily = {
  id: "qwen3-2507",
  name: "Qwen3 of July 2025",
  makers,
  architecture: { ropeBase: 5_000_000, context: 262144 },
  sizes: {
    ...pick(sizes3, "4B", "235B-A22B"),
    "30B-A3B": { ...sizes3["30B-A3B"], ropeBase: 10_000_000 },
  },
  variants: [
    { id: "instruct", names: ["Qwen3-{}-Instruct-2507"], template: template.qwen3Instruct },
    { id: "thinking", names: ["Qwen3-{}-Thinking-2507"], template: template.qwen3Thinking },
  ],
  sources: [
    source.litgpt,
    source.maxtext,
    source.slime,
    source.printed,
    source.trl,
    source.unsloth,
    source.llamafactory,
    source.swift,
  ],
};

const qwen3Next: ModelFamily = {
  id: "qwen3-next",
  name: "Qwen3-Next",
  makers,
  architecture: { ropeBase: 10_000_000, context: 262144, tied: false },
  sizes: { "80B-A3B": shape(48, 2048, 5120, 16, 2, 151936) },
  variants: [
    { id: "instruct", names: ["Qwen3-Next-{}-Instruct"] },
    { id: "thinking", names: ["Qwen3-Next-{}-Thinking"] },
  ],
  sources: [source.slime, source.maxtext, source.swift],
};

/** Rotary bases only of sizes that two sources agree on. */
const sizes35: Readonly<Record<string, Architecture>> = {
  "0.8B": {
    ...shape(24, 1024, 3584, 8, 2, 248320),
    tied: true,
    ropeBase: 10_000_000,
    context: 262144,
  },
  "2B": {},
  "4B": { ...shape(32, 2560, 9216, 16, 4, 248320), tied: true },
  "9B": { ...shape(32, 4096, 12288, 16, 4, 248320), tied: false },
  "27B": { ...shape(64, 5120, 17408, 24, 4, 248320), tied: false },
  "35B-A3B": {
    layers: 40,
    hidden: 2048,
    heads: 16,
    kvHeads: 2,
    vocab: 248320,
    tied: false,
    ropeBase: 10_000_000,
    context: 262144,
  },
  "122B-A10B": {},
  "397B-A17B": {
    layers: 60,
    hidden: 4096,
    heads: 32,
    kvHeads: 2,
    vocab: 248320,
    tied: false,
    ropeBase: 10_000_000,
    context: 262144,
  },
};

const qwen35: ModelFamily = {
  id: "qwen3.5",
  name: "Qwen3.5",
  makers,
  sizes: sizes35,
  variants: [
    { id: "base", names: ["Qwen3.5-{}-Base"], only: ["0.8B", "2B", "4B", "9B", "35B-A3B"] },
    { id: "small", names: ["Qwen3.5-{}"], only: ["0.8B", "2B"], template: template.qwen35Small },
    {
      id: "hybrid",
      names: ["Qwen3.5-{}"],
      only: ["4B", "9B", "27B", "35B-A3B", "122B-A10B", "397B-A17B"],
      template: template.qwen35,
    },
  ],
  sources: [source.slime, source.maxtext, source.printed, source.trl, source.llamafactory, source.swift],
};

const qwen36: ModelFamily = {
  id: "qwen3.6",
  name: "Qwen3.6",
  makers,
  sizes: {
    "27B": { ...shape(64, 5120, 17408, 24, 4, 248320), tied: false },
    "35B-A3B": { layers: 40, hidden: 2048, heads: 16, kvHeads: 2, vocab: 248320, tied: false },
  },
  variants: [{ id: "hybrid", names: ["Qwen3.6-{}"], template: template.qwen36 }],
  sources: [source.miles, source.trl, source.llamafactory, source.swift],
};

export const qwenFamilies: readonly ModelFamily[] = [
  qwen25,
  qwen25Coder,
  qwen25Math,
  qwen25Vl,
  qwq,
  qwen3,
  qwen32507,
  qwen3Next,
  qwen35,
  qwen36,
];
