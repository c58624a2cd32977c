/** What `validate`, `run`, `sample` and `doctor` say of models that a run refuses, before anything is opened. */
import assert from "node:assert/strict";
import {
  closeSync,
  cpSync,
  ftruncateSync,
  mkdirSync,
  mkdtempSync,
  openSync,
  readFileSync,
  readdirSync,
  renameSync,
  rmSync,
  writeFileSync,
  writeSync,
} from "node:fs";
import { tmpdir } from "node:os";
import { join, resolve } from "node:path";
import { test } from "node:test";
import { UserError } from "../../shared/lib/errors.ts";
import type { Diagnostic } from "../../server/config/check/diagnostic.ts";
import { loadConfig } from "../../server/rules/load.ts";
import { checkModels } from "../../server/cli/doctor/models.ts";
import { admitAnswers } from "../../server/analysis/memory/ofAnswers.ts";
import { modelFacts } from "../../server/analysis/modelFacts.ts";
import { publicTensors } from "../../server/engine/formats/huggingFace/tensors.ts";
import { readShape } from "../../server/engine/formats/index.ts";
import { HuggingFaceTokenizer } from "../../server/engine/tokenizers/index.ts";
import { resolveCheckpoint } from "../../server/run/checkpoint/checkpoints.ts";

const architectures = resolve("test/fixtures/architectures");
const ggufs = resolve("test/fixtures/gguf");

function inFolder(use: (folder: string) => void): void {
  const folder = mkdtempSync(join(tmpdir(), "gradus-models-"));
  try {
    use(folder);
  } finally {
    rmSync(folder, { recursive: true, force: true });
  }
}

/** A copy of a folder that a run accepts, with other keys in its config.json. */
function copied(folder: string, name: string, keys: Readonly<Record<string, unknown>> = {}): string {
  const place = join(folder, `model-${readdirSync(folder).length}`);
  cpSync(join(architectures, name), place, { recursive: true });
  const file = join(place, "config.json");
  const config: object = JSON.parse(readFileSync(file, "utf8"));
  writeFileSync(file, JSON.stringify({ ...config, ...keys }));
  return place;
}

/** What is found in a config that names the model, as `validate` and the editor find it. */
function found(folder: string, model: string, more = ""): Diagnostic[] {
  const text = `tasks: [{ env: reverse_text, lengths: [2, 3] }]
reward: { terms: { correct: exact_match } }
rollout: { max_tokens: 8 }
model:
  base: ${model}
${more}`;
  const file = join(folder, "x.gradus.yaml");
  writeFileSync(file, text);
  return loadConfig(file, { models: modelFacts }).diagnostics.filter(({ severity }) => severity !== "info");
}

/** The one error, which is on the line of the model's base. */
function refused(folder: string, model: string): string {
  const [one, ...rest] = found(folder, model);
  assert.deepEqual(rest, []);
  assert.equal(one?.severity, "error");
  assert.equal(one.rule, "model-content");
  assert.equal(one.range.start.line, 4);
  assert.equal(one.key, "model.base");
  return one.message;
}

test("nothing is found in a model that a run accepts", () => {
  inFolder((folder) => {
    const models = [
      ...readdirSync(architectures)
        .filter((name) => !name.endsWith(".py"))
        .map((name) => join(architectures, name)),
      ...readdirSync(ggufs)
        .filter((name) => name.endsWith(".gguf"))
        .map((name) => join(ggufs, name)),
    ];
    assert.ok(models.length >= 13);
    for (const model of models) assert.deepEqual(found(folder, model), [], model);
  });
});

const features: readonly (readonly [string, Readonly<Record<string, unknown>>, RegExp])[] = [
  ["llama", { rope_parameters: { rope_type: "yarn", factor: 4 } }, /rope_type is "yarn" \(YaRN/],
  [
    "llama",
    { rope_parameters: null, rope_scaling: { type: "dynamic", factor: 2 } },
    /rope_type is "dynamic" \(NTK/,
  ],
  ["llama", { mlp_bias: true }, /mlp_bias is true \(biases in the feed-forward layers\)/],
  ["llama", { quantization_config: { quant_method: "gptq" } }, /"gptq" \(quantised weights\)/],
  ["gemma3", { final_logit_softcapping: 30 }, /softcapping is 30 \(soft-capped logits\)/],
  ["qwen3", { model_type: "qwen3_moe", num_experts: 8 }, /family of Qwen 3 MoE.*a mixture of experts/],
  ["gemma3", { model_type: "gemma2", attn_logit_softcapping: 50 }, /Gemma 2.*soft-capped attention scores/],
  ["llama", { model_type: "phi3" }, /the family of Phi 3 or Phi 4, which this engine does not compute\. Use/],
  ["llama", { model_type: "quux" }, /model_type is quux, a family that this engine does not know/],
];
for (const [name, keys, words] of features)
  test(`${name} with ${JSON.stringify(keys)} is named on the model's line`, () =>
    inFolder((folder) => {
      const message = refused(folder, copied(folder, name, keys));
      assert.match(message, words);
      assert.match(message, /Llama|Qwen/);
    }));

test("a multimodal model is named by its family, though its sizes lie deeper", () =>
  inFolder((folder) => {
    const model = copied(folder, "gemma3");
    writeFileSync(
      join(model, "config.json"),
      JSON.stringify({ model_type: "gemma3", vision_config: {}, text_config: { hidden_size: 8 } }),
    );
    assert.match(refused(folder, model), /Gemma 3 with pictures.*a part for pictures/);
  }));

for (const [what, head, words, action] of [
  [
    "a GGUF file",
    "GGUF\u0003\0\0\0",
    /pytorch_model\.bin is a GGUF file with another file extension/,
    /ends in \.gguf/,
  ],
  [
    "a pointer of Git LFS",
    "version https://git-lfs.github.com/spec/v1\noid sha256:00\nsize 1\n",
    /pytorch_model\.bin is a pointer of Git LFS: the weights themselves were not downloaded/,
    /git lfs pull/,
  ],
] as const)
  test(`${what} that is named as pickled weights are is reported as what it is`, () =>
    inFolder((folder) => {
      const model = copied(folder, "llama");
      rmSync(join(model, "model.safetensors"));
      writeFileSync(join(model, "pytorch_model.bin"), head);
      assert.match(refused(folder, model), words);
      for (const path of [model, join(model, "pytorch_model.bin")])
        assert.throws(
          () => resolveCheckpoint(path),
          (error) =>
            error instanceof UserError && words.test(error.message) && action.test(error.detail.action ?? ""),
        );
    }));

test("pickled weights are refused with how to save them, and once they are there nothing is found", () =>
  inFolder((folder) => {
    const model = copied(folder, "llama");
    renameSync(join(model, "model.safetensors"), join(model, "pytorch_model.bin"));
    assert.match(refused(folder, model), /pickled \(pytorch_model\.bin\).*save_pretrained/);
    const [check, ...rest] = checkModels(join(folder, "x.gradus.yaml"));
    assert.deepEqual(rest, []);
    assert.equal(check?.status, "missing");
    assert.match(check.detail, /model\.base: .*pickled/);
    assert.throws(
      () => resolveCheckpoint(model),
      (error) =>
        error instanceof UserError &&
        /pickled/.test(error.message) &&
        /save_pretrained/.test(error.detail.action ?? ""),
    );
    assert.throws(() => resolveCheckpoint(join(model, "pytorch_model.bin")), /pickled/);
    renameSync(join(model, "pytorch_model.bin"), join(model, "model.safetensors"));
    assert.deepEqual(found(folder, model), []);
    assert.deepEqual(
      checkModels(join(folder, "x.gradus.yaml")).map(({ status }) => status),
      ["ok"],
    );
  }));

test("what lacks a file, is cut short or is only pointed to is refused by the file's name", () =>
  inFolder((folder) => {
    const without = copied(folder, "llama");
    rmSync(join(without, "tokenizer.json"));
    assert.match(refused(folder, without), /tokenizer\.json cannot be read/);
    const lost = copied(folder, "qwen2");
    rmSync(join(lost, "model-00002-of-00002.safetensors"));
    assert.match(refused(folder, lost), /model-00002-of-00002\.safetensors cannot be read/);
    const pointer = copied(folder, "llama");
    writeFileSync(join(pointer, "model.safetensors"), "version https://git-lfs.github.com/spec/v1\n");
    assert.match(refused(folder, pointer), /pointer of Git LFS/);
    const deep = copied(folder, "llama", { num_hidden_layers: 3 });
    assert.match(refused(folder, deep), /model\.layers\.2\..* is missing/);
    const empty = join(folder, "empty");
    mkdirSync(empty);
    assert.match(refused(folder, empty), /^empty is not a model: it is a folder without a config\.json/);
    const small = copied(folder, "llama");
    const file = join(small, "model.safetensors");
    writeFileSync(file, readFileSync(file, "latin1").replace('"F32"', '"I32"'), "latin1");
    assert.match(refused(folder, small), /is I32, and this engine reads only F32/);
  }));

test("models other than the policy are looked at on their own lines", () =>
  inFolder((folder) => {
    const judge = copied(folder, "llama", { model_type: "olmo2" });
    const own = join(architectures, "llama");
    const kl = "kl: [{ model: teacher, place: loss, coefficient: 0.1 }]\n";
    const all = found(folder, own, `models:\n  teacher: { base: ${judge} }\n${kl}`);
    const [one] = all.filter(({ rule }) => rule === "model-content");
    assert.equal(one?.key, "models.teacher.base");
    assert.equal(one.range.start.line, 6);
    assert.match(one.message, /OLMo 2/);
  }));

test("ggml's element types that are not read are called by their names", () =>
  inFolder((folder) => {
    const whole = readFileSync(join(ggufs, "qwen2.gguf"));
    const name = "token_embd.weight";
    // After the tensor's name: its number of dimensions and two extents.
    const at = whole.indexOf(name) + name.length + 4 + 16;
    const kinds = {
      10: "Q2_K",
      11: "Q3_K",
      20: "IQ4_NL",
      23: "IQ4_XS",
      34: "TQ1_0",
      35: "TQ2_0",
      39: "MXFP4",
    };
    for (const [number, kind] of Object.entries(kinds)) {
      const changed = Buffer.from(whole);
      changed.writeUInt32LE(Number(number), at);
      const file = join(folder, `${kind}.gguf`);
      writeFileSync(file, changed);
      assert.match(refused(folder, file), new RegExp(`token_embd\\.weight is stored as ${kind}, which`));
    }
  }));

/** A folder with a model of Llama 3.1's largest size, whose weights are holes. */
function huge(folder: string): string {
  const model = copied(folder, "llama", {
    hidden_size: 16_384,
    intermediate_size: 53_248,
    num_hidden_layers: 126,
    num_attention_heads: 128,
    num_key_value_heads: 8,
    head_dim: 128,
    max_position_embeddings: 131_072,
  });
  let end = 0;
  const header: Record<string, unknown> = {};
  for (const { name, extents } of Object.values(publicTensors(readShape(model))).flat()) {
    const from = end;
    end += 2 * extents.reduce((product, extent) => product * extent, 1);
    header[name] = { dtype: "BF16", shape: extents, data_offsets: [from, end] };
  }
  const json = Buffer.from(JSON.stringify(header));
  const length = Buffer.alloc(8);
  length.writeBigUInt64LE(BigInt(json.length));
  const file = openSync(join(model, "model.safetensors"), "w");
  writeSync(file, Buffer.concat([length, json]));
  ftruncateSync(file, 8 + json.length + end);
  closeSync(file);
  return model;
}

test("a model that no machine holds is an error of its line, and one sentence where it is asked", () =>
  inFolder((folder) => {
    const model = huge(folder);
    const [one, ...rest] = found(folder, model);
    assert.deepEqual(rest, []);
    assert.deepEqual(
      { rule: one?.rule, severity: one?.severity, key: one?.key, line: one?.range.start.line },
      { rule: "model-memory", severity: "error", key: "model.base", line: 4 },
    );
    assert.match(one?.message ?? "", /needs about \d+ GiB at its peak/);
    assert.throws(
      () => admitAnswers({ path: model, answers: 1, max_tokens: 16 }),
      (error) =>
        error instanceof UserError &&
        /needs about \d+ GiB of memory to answer, but may use only/.test(error.message),
    );
  }));

test("a vocabulary of a tiny model that cannot be read is reported on its own line", () =>
  inFolder((folder) => {
    const text = (file: string): string =>
      `tasks: [{ env: reverse_text, lengths: [2, 3] }]
reward: { terms: { correct: exact_match } }
model: { base: tiny, tokenizer: { use: bpe, file: ${file} } }
`;
    const file = join(folder, "x.gradus.yaml");
    mkdirSync(join(folder, "none"));
    const look = (name: string) => loadConfig(file, { text: text(name), models: modelFacts }).diagnostics;
    for (const name of ["./gone.txt", "./none"]) {
      const [one] = look(name).filter(({ rule }) => rule === "model-content");
      assert.equal(one?.key, "model.tokenizer.file", name);
      assert.equal(one.range.start.line, 2);
    }
    assert.deepEqual(
      look(join(architectures, "llama")).filter(({ rule }) => rule === "model-content"),
      [],
    );
  }));

test("a vocabulary with more tokens than a call may have arguments is read", () => {
  const vocab = Object.fromEntries(Array.from({ length: 262_144 }, (_, id) => [`t${id}`, id]));
  const tokenizer = new HuggingFaceTokenizer({
    tokenizer: {
      normalizer: null,
      post_processor: null,
      decoder: { type: "ByteLevel" },
      model: { type: "BPE", vocab, merges: [] },
    },
    config: { eos_token: "t7" },
    name: "large",
    file: "tokenizer.json",
  });
  assert.equal(tokenizer.size, 262_144);
  assert.equal(tokenizer.eos, 7);
});
