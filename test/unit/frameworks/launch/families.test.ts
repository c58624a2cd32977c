/** Which family, variant and size a model's name means, and that the table of families contradicts itself nowhere. */
import assert from "node:assert/strict";
import { describe, it } from "node:test";
import { familyOf, modelFamilies } from "../../../../server/frameworks/launch/families.ts";
import { publishedNames } from "../../../../server/frameworks/launch/familyModel.ts";
import { plainName } from "../../../../server/frameworks/launch/modelName.ts";

/** A match in a line: `family/variant/size`, `family?` for a name that goes on, `-` for none. */
function said(model: string): string {
  const match = familyOf(model);
  if (match === undefined) return "-";
  if (!match.exact) return `${match.family.id}?`;
  return [match.family.id, match.variant, match.size].filter((part) => part !== undefined).join("/");
}

function check(expected: Readonly<Record<string, string>>): void {
  const names = Object.keys(expected);
  assert.deepEqual(Object.fromEntries(names.map((name) => [name, said(name)])), expected);
}

const exact = (model: string) => {
  const match = familyOf(model);
  assert.ok(match?.exact, model);
  return match;
};

describe("the family of a model's name", () => {
  it("follows from an id of the Hub", () => {
    check({
      "Qwen/Qwen2.5-1.5B": "qwen2.5/base/1.5B",
      "Qwen/Qwen2.5-7B-Instruct": "qwen2.5/instruct/7B",
      "qwen/qwen2.5-7b-instruct": "qwen2.5/instruct/7B",
      "Qwen/Qwen2.5-Math-1.5B": "qwen2.5-math/base/1.5B",
      "Qwen/Qwen2.5-Math-7B-Instruct": "qwen2.5-math/instruct/7B",
      "Qwen/Qwen2.5-Coder-3B": "qwen2.5-coder/base/3B",
      "Qwen/Qwen2.5-VL-7B-Instruct": "qwen2.5-vl/instruct/7B",
      "Qwen/QwQ-32B": "qwq/thinking/32B",
      "Qwen/QwQ-32B-Preview": "qwq/preview/32B",
      "Qwen/Qwen3-4B": "qwen3/hybrid/4B",
      "Qwen/Qwen3-4B-Base": "qwen3/base/4B",
      "Qwen/Qwen3-30B-A3B": "qwen3/hybrid/30B-A3B",
      "Qwen/Qwen3-4B-Instruct-2507": "qwen3-2507/instruct/4B",
      "Qwen/Qwen3-30B-A3B-Thinking-2507": "qwen3-2507/thinking/30B-A3B",
      "Qwen/Qwen3-Next-80B-A3B-Instruct": "qwen3-next/instruct/80B-A3B",
      "Qwen/Qwen3.5-2B": "qwen3.5/small/2B",
      "Qwen/Qwen3.5-4B": "qwen3.5/hybrid/4B",
      "Qwen/Qwen3.6-27B": "qwen3.6/hybrid/27B",
      "deepseek-ai/DeepSeek-R1-Distill-Qwen-1.5B": "deepseek-r1-distill-qwen/thinking/1.5B",
      "deepseek-ai/DeepSeek-R1-Distill-Llama-8B": "deepseek-r1-distill-llama/thinking/8B",
      "deepseek-ai/DeepSeek-V3": "deepseek-v3/instruct",
      "deepseek-ai/DeepSeek-R1": "deepseek-v3/thinking",
      "moonshotai/Moonlight-16B-A3B-Instruct": "moonlight/instruct/16B-A3B",
      "moonshotai/Kimi-K2-Instruct": "kimi-k2/instruct",
      "zai-org/GLM-4-9B-0414": "glm-4/instruct/9B",
      "THUDM/GLM-4-32B-0414": "glm-4/instruct/32B",
      "zai-org/GLM-4.5-Air": "glm-4.5/air",
      "XiaomiMiMo/MiMo-7B-RL": "mimo/thinking/7B",
      "internlm/internlm2_5-7b-chat": "internlm2.5/instruct/7b",
      "01-ai/Yi-1.5-9B-Chat": "yi-1.5/instruct/9B",
      "meta-llama/Llama-2-7b-chat-hf": "llama-2/instruct/7b",
      "meta-llama/Meta-Llama-3-8B-Instruct": "llama-3/instruct/8B",
      "meta-llama/Llama-3.1-8B-Instruct": "llama-3.1/instruct/8B",
      "meta-llama/Llama-3.2-1B": "llama-3.2/base/1B",
      "meta-llama/Llama-3.3-70B-Instruct": "llama-3.3/instruct/70B",
      "mistralai/Mistral-7B-v0.1": "mistral-7b/base/v0.1",
      "mistralai/Mistral-7B-Instruct-v0.3": "mistral-7b/instruct/v0.3",
      "mistralai/Mistral-Nemo-Instruct-2407": "mistral-nemo/instruct",
      "mistralai/Ministral-3-3B-Instruct-2512": "ministral-3/instruct/3B",
      "google/gemma-2-2b-it": "gemma-2/instruct/2b",
      "google/gemma-3-4b-it": "gemma-3/instruct/4b",
      "google/gemma-3-270m": "gemma-3/smallest/270m",
      "microsoft/Phi-3.5-mini-instruct": "phi-3/3.5-mini",
      "microsoft/phi-4": "phi-4/instruct",
      "microsoft/Phi-4-mini-instruct": "phi-4/mini",
      "HuggingFaceTB/SmolLM2-135M-Instruct": "smollm2/instruct/135M",
      "HuggingFaceTB/SmolLM3-3B": "smollm3/hybrid/3B",
      "allenai/OLMo-2-1124-7B-Instruct": "olmo-2/instruct/1124-7B",
      "openai/gpt-oss-20b": "gpt-oss/instruct/20b",
      "ibm-granite/granite-3.1-8b-instruct": "granite-3/instruct/3.1-8b",
      "TinyLlama/TinyLlama-1.1B-Chat-v1.0": "tinyllama/instruct/1.1B",
      "tiiuae/Falcon3-7B-Base": "falcon3/base/7B",
    });
  });

  it("follows from copies and conversions", () => {
    check({
      "unsloth/Llama-3.1-8B-Instruct": "llama-3.1/instruct/8B",
      "unsloth/Meta-Llama-3.1-8B-Instruct-bnb-4bit": "llama-3.1/instruct/8B",
      "unsloth/llama-3-8b-Instruct-bnb-4bit": "llama-3/instruct/8B",
      "unsloth/Qwen3-4B-Instruct-2507-unsloth-bnb-4bit": "qwen3-2507/instruct/4B",
      "unsloth/mistral-7b-instruct-v0.3-bnb-4bit": "mistral-7b/instruct/v0.3",
      "unsloth/DeepSeek-R1-Distill-Qwen-1.5B-GGUF": "deepseek-r1-distill-qwen/thinking/1.5B",
      "mlx-community/Qwen2.5-7B-Instruct-4bit": "qwen2.5/instruct/7B",
      "mlx-community/Qwen3.5-2B-MLX-4bit": "qwen3.5/small/2B",
      "Qwen/Qwen2.5-7B-Instruct-AWQ": "qwen2.5/instruct/7B",
      "Qwen/Qwen2.5-7B-Instruct-GPTQ-Int4": "qwen2.5/instruct/7B",
      "Qwen/Qwen3-30B-A3B-FP8": "qwen3/hybrid/30B-A3B",
      "https://huggingface.co/Qwen/Qwen3-4B": "qwen3/hybrid/4B",
    });
  });

  it("follows from a folder with a published name", () => {
    check({
      "Qwen2.5-1.5B": "qwen2.5/base/1.5B",
      "/models/Qwen2.5-1.5B": "qwen2.5/base/1.5B",
      "models/Qwen2.5-1.5B/": "qwen2.5/base/1.5B",
      "./Qwen2.5-1.5B": "qwen2.5/base/1.5B",
      "/root/Qwen3-4B": "qwen3/hybrid/4B",
      "/root/Qwen3-4B_torch_dist": "qwen3/hybrid/4B",
      "/root/DeepSeek-R1-Distill-Qwen-7B_torch_dist/": "deepseek-r1-distill-qwen/thinking/7B",
      "$HF_HOME/Qwen3-8B": "qwen3/hybrid/8B",
      "D:\\models\\Qwen3-8B": "qwen3/hybrid/8B",
      "/cache/Qwen/Qwen2___5-7B-Instruct": "qwen2.5/instruct/7B",
      "~/.cache/huggingface/hub/models--Qwen--Qwen3-4B/snapshots/1cfa9a7208912126459214e8b04321603b3df60c":
        "qwen3/hybrid/4B",
      "~/.cache/huggingface/hub/models--me--Qwen3-4B/snapshots/1cfa9a7208912126459214e8b04321603b3df60c":
        "qwen3?",
    });
  });

  it("is all that is said of a model that may be trained further", () => {
    check({
      "someone/Qwen2.5-7B-mine-grpo": "qwen2.5?",
      "someone/Qwen2.5-7B": "qwen2.5?",
      "google/Qwen2.5-7B": "qwen2.5?",
      "Qwen/Qwen2.5-7B-Instruct-1M": "qwen2.5?",
      "sail/Qwen2.5-Math-7B-Oat-Zero": "qwen2.5-math?",
      "/root/Qwen3-4B_slime": "qwen3?",
      "outputs/Qwen3-4B": "qwen3?",
      "/home/me/runs/a/Qwen3-4B": "qwen3?",
      "{models}/Qwen3-4B": "qwen3?",
      "agentica-org/DeepSeek-R1-Distill-Qwen-1.5B-longer": "deepseek-r1-distill-qwen?",
    });
  });

  it("is not guessed", () => {
    check({
      "": "-",
      "/": "-",
      "outputs/checkpoint-400": "-",
      "my-org/my-model": "-",
      "/ckpt/search-1.5B": "-",
      "Qwen3-4B/checkpoint-400": "-",
      "/root/$MODEL": "-",
      "${MODEL}": "-",
      "Qwen/Qwen2.5": "-",
      "Qwen/Qwen2.5-8B": "-",
      "Qwen/Qwen2.5-Math-PRM-7B": "-",
      "Qwen/Qwen3-Embedding-0.6B": "-",
      "Qwen/Qwen3-32B-Base": "qwen3?",
      "open-thoughts/OpenThinker-7B": "-",
      "NousResearch/Hermes-3-Llama-3.1-8B": "-",
      "nvidia/Llama-3.1-Nemotron-70B-Instruct-HF": "-",
      "meta-llama/Llama-3.2-11B-Vision-Instruct": "-",
      "deepseek-ai/DeepSeek-R1-0528-Qwen3-8B": "-",
      "deepseek-ai/DeepSeek-R1-0528": "-",
      "deepseek-ai/DeepSeek-V3.1": "-",
      "microsoft/Phi-4-reasoning": "-",
      "zai-org/GLM-4.5V": "-",
      gpt2: "-",
      llama: "-",
    });
  });
});

describe("facts of models", () => {
  it("have the rotary base of the model, not of its relatives", () => {
    const base = (model: string) => exact(model).architecture.ropeBase;
    assert.equal(base("Qwen/Qwen2.5-1.5B"), 1_000_000);
    assert.equal(base("Qwen/Qwen2.5-Math-1.5B"), 10_000);
    assert.equal(base("deepseek-ai/DeepSeek-R1-Distill-Qwen-1.5B"), 10_000);
    assert.equal(base("deepseek-ai/DeepSeek-R1-Distill-Qwen-32B"), undefined);
    assert.equal(base("Qwen/Qwen3-4B"), 1_000_000);
    assert.equal(base("Qwen/Qwen3-4B-Instruct-2507"), 5_000_000);
    assert.equal(base("Qwen/Qwen3-30B-A3B-Instruct-2507"), 10_000_000);
    assert.equal(base("meta-llama/Llama-3.2-3B-Instruct"), 500_000);
    assert.equal(base("mistralai/Mistral-7B-v0.1"), 10_000);
    assert.equal(base("mistralai/Mistral-7B-v0.3"), 1_000_000);
  });

  it("have the shape of the size, and what a variant changes", () => {
    assert.deepEqual(exact("/models/Qwen2.5-7B-Instruct").architecture, {
      layers: 28,
      hidden: 3584,
      ffn: 18944,
      heads: 28,
      kvHeads: 4,
      vocab: 152064,
      tied: false,
      ropeBase: 1_000_000,
      context: 32768,
      longContext: 131072,
    });
    assert.equal(exact("Qwen/Qwen2.5-7B").architecture.context, 131072);
    assert.equal(exact("Qwen/Qwen2.5-3B").architecture.context, 32768);
    assert.equal(exact("Qwen/Qwen2.5-72B-Instruct").architecture.context, undefined);
    assert.equal(exact("Qwen/Qwen2.5-1.5B").architecture.tied, true);
    assert.equal(exact("zai-org/GLM-4.5-Air").architecture.layers, 46);
    assert.equal(exact("zai-org/GLM-4.5").architecture.layers, 92);
  });

  it("say who writes the thought's first tag", () => {
    const think = (model: string) => exact(model).template?.think;
    assert.equal(think("deepseek-ai/DeepSeek-R1-Distill-Qwen-1.5B"), "prefilled");
    assert.equal(think("Qwen/QwQ-32B"), "prefilled");
    assert.equal(think("Qwen/QwQ-32B-Preview"), undefined);
    assert.equal(think("Qwen/Qwen3-4B"), "own");
    assert.equal(think("Qwen/Qwen3-4B-Instruct-2507"), "none");
    assert.equal(think("Qwen/Qwen3-4B-Thinking-2507"), "prefilled");
    assert.equal(think("Qwen/Qwen3.5-0.8B"), "closed");
    assert.equal(think("Qwen/Qwen3.5-9B"), "prefilled");
    assert.equal(think("Qwen/Qwen2.5-7B-Instruct"), "none");
    assert.equal(think("deepseek-ai/DeepSeek-V3"), "none");
  });

  it("have the tokens of the makers' copy only", () => {
    assert.equal(exact("Qwen/Qwen2.5-1.5B").template?.eos, "<|endoftext|>");
    assert.equal(exact("Qwen/Qwen2.5-1.5B").template?.pad, "<|endoftext|>");
    assert.equal(exact("Qwen/Qwen2.5-1.5B-Instruct").template?.eos, "<|im_end|>");
    const copy = exact("unsloth/Qwen2.5-1.5B-Instruct").template;
    assert.equal(copy?.assistant, "<|im_start|>assistant\n");
    assert.deepEqual([copy?.eos, copy?.pad], [undefined, undefined]);
  });
});

describe("the table of families", () => {
  it("has no name twice, and finds each by itself", () => {
    const names = modelFamilies.flatMap(publishedNames);
    const plain = names.map(([name]) => plainName(name));
    assert.deepEqual(
      plain.filter((name, place) => plain.indexOf(name) !== place),
      [],
    );
    for (const [name, { family, variant, size }] of names) {
      const match = exact(name);
      assert.deepEqual([match.family.id, match.variant, match.size], [family.id, variant.id, size], name);
    }
    assert.equal(new Set(modelFamilies.map(({ id }) => id)).size, modelFamilies.length);
    assert.ok(modelFamilies.length >= 30);
  });

  it("says of each row where it is from, and when", () => {
    for (const { id, sources, makers } of modelFamilies) {
      assert.ok(sources.length > 0, id);
      assert.ok(
        makers.every((maker) => maker === maker.toLowerCase()),
        id,
      );
      for (const { what, date } of sources) {
        assert.notEqual(what, "", id);
        assert.match(date, /^20\d\d-\d\d-\d\d$/, id);
      }
    }
  });

  it("names sizes that the family has", () => {
    for (const { id, sizes, variants } of modelFamilies)
      for (const { only, bySize } of variants)
        for (const size of [...(only ?? []), ...Object.keys(bySize ?? {})])
          assert.ok(size in sizes, `${id} ${size}`);
  });

  it("has shapes that can be", () => {
    for (const [name] of modelFamilies.flatMap(publishedNames)) {
      const { heads, kvHeads, context, longContext } = exact(name).architecture;
      if (heads !== undefined && kvHeads !== undefined) assert.equal(heads % kvHeads, 0, name);
      if (longContext !== undefined) assert.ok(context !== undefined && longContext > context, name);
    }
  });

  it("ends markers as the templates do", () => {
    const markers = (model: string) => [exact(model).template?.user, exact(model).template?.assistant];
    const header = (role: string) => `<|start_header_id|>${role}<|end_header_id|>\n\n`;
    assert.deepEqual(markers("Qwen/Qwen3-8B"), ["<|im_start|>user\n", "<|im_start|>assistant\n"]);
    assert.deepEqual(markers("meta-llama/Llama-3.1-8B-Instruct"), [header("user"), header("assistant")]);
    assert.deepEqual(markers("google/gemma-3-4b-it"), ["<start_of_turn>user\n", "<start_of_turn>model\n"]);
    assert.deepEqual(markers("deepseek-ai/DeepSeek-R1"), ["<｜User｜>", "<｜Assistant｜>"]);
    assert.deepEqual(markers("microsoft/Phi-3.5-mini-instruct"), ["<|user|>\n", "<|assistant|>\n"]);
    assert.deepEqual(markers("microsoft/Phi-4-mini-instruct"), ["<|user|>", "<|assistant|>"]);
    assert.deepEqual(markers("mistralai/Mistral-7B-Instruct-v0.3"), ["[INST]", "[/INST]"]);
  });
});
