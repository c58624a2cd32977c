import assert from "node:assert/strict";
import { cpSync, mkdtempSync, readdirSync, readFileSync, renameSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { test } from "node:test";
import { openBase, readWeights, writeHuggingFace } from "../../../server/engine/formats/index.ts";
import { fromTensors, toPublic } from "../../../server/engine/formats/huggingFace/layout.ts";
import { publicTensors } from "../../../server/engine/formats/huggingFace/tensors.ts";
import { readSafetensors, writeSafetensors } from "../../../server/engine/weights/safetensors.ts";
import { weightShapes, type Shape } from "../../../server/engine/transformer/weights.ts";
import { initialWeights } from "../../support/initialWeights.ts";
import { expectedOf, familyNames, folderOf, type FamilyName } from "./families.ts";
import { batchOf, open, plan, supervised, tinyModel } from "./support.ts";

async function temporary(use: (folder: string) => Promise<void> | void): Promise<void> {
  const folder = mkdtempSync(join(tmpdir(), "gradus-hf-"));
  try {
    await use(folder);
  } finally {
    rmSync(folder, { recursive: true, force: true });
  }
}
const contentsOf = (folder: string): Record<string, string> =>
  Object.fromEntries(
    readdirSync(folder)
      .sort()
      .map((name) => [name, readFileSync(join(folder, name)).toString("base64")]),
  );
/** Tensors of a folder by name, whichever file they are in. */
const tensorsIn = (folder: string): ReturnType<typeof readSafetensors> =>
  Object.assign(
    {},
    ...readdirSync(folder)
      .filter((name) => name.startsWith("model") && name.endsWith(".safetensors"))
      .map((name) => readSafetensors(join(folder, name))),
  );

for (const name of familyNames) {
  test(`${name}: what is read and written is the same tensors, and written again the same bytes`, () =>
    temporary((folder) => {
      const [first, second] = [join(folder, "first"), join(folder, "second")];
      const head = openBase(folderOf(name));
      assert.equal(head.kind, "huggingface");
      writeHuggingFace(first, { ...head, weights: readWeights(head) });
      const again = openBase(first);
      assert.deepEqual(again.shape, head.shape);
      writeHuggingFace(second, { ...again, weights: readWeights(again) });
      assert.deepEqual(contentsOf(second), contentsOf(first));
      const [given, written] = [tensorsIn(folderOf(name)), tensorsIn(first)];
      assert.deepEqual(Object.keys(written).sort(), Object.keys(given).sort());
      for (const [tensor, { shape, data }] of Object.entries(given)) {
        assert.deepEqual(written[tensor]!.shape, shape, tensor);
        assert.deepEqual(written[tensor]!.data, data, tensor);
      }
    }));
}

for (const name of ["gemma3", "gpt2", "qwen2"] as const) {
  test(`${name}: training goes on from a checkpoint bit for bit, and saves it once more with the same bytes`, () =>
    temporary(async (folder) => {
      const model = { ...tinyModel(), base: folderOf(name) };
      const batch = batchOf(expectedOf(name).rows);
      const policy = await open({ model });
      await policy.update(batch, plan(["logp"]), supervised);
      await policy.save(join(folder, "saved"));
      const resumed = await open({ model, from: join(folder, "saved") });
      await resumed.save(join(folder, "again"));
      assert.deepEqual(contentsOf(join(folder, "again")), contentsOf(join(folder, "saved")));
      assert.equal(openBase(join(folder, "saved")).kind, "checkpoint");
      const [a, b] = [
        await policy.update(batch, plan(["logp"]), supervised),
        await resumed.update(batch, plan(["logp"]), supervised),
      ];
      assert.equal(a.loss, b.loss);
      assert.deepEqual(resumed.readWeights(), policy.readWeights());
      policy.close();
      resumed.close();
    }));
}

/** A copy of a family's folder with other keys in its config.json. */
function withKeys(folder: string, name: FamilyName, keys: Record<string, unknown>): string {
  cpSync(folderOf(name), folder, { recursive: true });
  const file = join(folder, "config.json");
  const config: Record<string, unknown> = JSON.parse(readFileSync(file, "utf8"));
  writeFileSync(file, JSON.stringify({ ...config, ...keys }));
  return folder;
}
const refused: readonly (readonly [FamilyName, Record<string, unknown>, RegExp])[] = [
  ["llama", { model_type: "mamba" }, /model_type is mamba/],
  ["llama", { hidden_act: "relu" }, /hidden_act is "relu"/],
  ["llama", { mlp_bias: true }, /mlp_bias is true/],
  ["llama", { rope_parameters: { rope_type: "yarn", factor: 4 } }, /rope_type is "yarn"/],
  ["llama", { rope_parameters: { rope_type: "llama3", factor: 4 } }, /low_freq_factor is missing/],
  ["llama", { partial_rotary_factor: 0.5 }, /partial_rotary_factor is 0.5/],
  ["llama", { quantization_config: { bits: 4 } }, /quantization_config is/],
  ["llama", { hidden_size: "wide" }, /does not describe a model: hidden_size/],
  ["llama", { num_key_value_heads: 3 }, /num_attention_heads \(4\) is not a multiple/],
  ["llama", { head_dim: 7 }, /head_dim is 7, which is odd/],
  ["gemma3", { final_logit_softcapping: 30 }, /final_logit_softcapping is 30/],
  ["gpt2", { scale_attn_by_inverse_layer_idx: true }, /scale_attn_by_inverse_layer_idx is true/],
  ["gpt2", { activation_function: "gelu" }, /activation_function is "gelu"/],
];
for (const [name, keys, message] of refused) {
  test(`${name} with ${JSON.stringify(keys)} is refused by name`, () =>
    temporary((folder) => {
      const changed = withKeys(join(folder, "model"), name, keys);
      assert.throws(() => openBase(changed), { message });
    }));
}

test("weights that do not fit their config.json are named", () =>
  temporary((folder) => {
    const wide = withKeys(join(folder, "wide"), "llama", { intermediate_size: 40 });
    assert.throws(() => readWeights(openBase(wide)), {
      message:
        /model.safetensors: model.layers.0.mlp.gate_proj.weight should have the extents \[40, 32\] but has \[48, 32\]/,
    });
    const deep = withKeys(join(folder, "deep"), "llama", { num_hidden_layers: 3 });
    assert.throws(() => readWeights(openBase(deep)), {
      message: /model.layers.2.input_layernorm.weight .*is missing/,
    });
    const shallow = withKeys(join(folder, "shallow"), "llama", { num_hidden_layers: 1 });
    assert.throws(() => readWeights(openBase(shallow)), {
      message: /holds 9 tensors that its config.json does not mention: model.layers.1/,
    });
    const lost = withKeys(join(folder, "lost"), "qwen2", {});
    rmSync(join(lost, "model-00002-of-00002.safetensors"));
    assert.throws(() => readWeights(openBase(lost)), {
      message: /model-00002-of-00002.safetensors cannot be read/,
    });
    const old = withKeys(join(folder, "old"), "llama", {});
    renameSync(join(old, "model.safetensors"), join(old, "pytorch_model.bin"));
    assert.throws(() => readWeights(openBase(old)), { message: /has neither model.safetensors nor/ });
  }));

test("files of the bare model, with masks and frequencies among the weights, are read", () =>
  temporary((folder) => {
    const model = withKeys(join(folder, "model"), "gpt2", {});
    const file = join(model, "model.safetensors");
    const whole = readWeights(openBase(model));
    const bare = Object.entries(readSafetensors(file)).map(
      ([name, tensor]) => [name.replace("transformer.", ""), tensor] as const,
    );
    const mask = { shape: [1, 1, 2, 2], data: Float32Array.of(1, 0, 1, 1) };
    writeSafetensors(file, { ...Object.fromEntries(bare), "h.0.attn.bias": mask });
    assert.deepEqual(readWeights(openBase(model)), whole);
  }));

/** A file of one tensor `x` with these bytes. */
function oneTensor(file: string, dtype: string, shape: readonly number[], bytes: Uint8Array): void {
  const header = Buffer.from(JSON.stringify({ x: { dtype, shape, data_offsets: [0, bytes.length] } }));
  const length = Buffer.alloc(8);
  length.writeBigUInt64LE(BigInt(header.length));
  writeFileSync(file, Buffer.concat([length, header, bytes]));
}

test("floats of every width are read exactly, and other types are refused by name", () =>
  temporary((folder) => {
    const file = join(folder, "x.safetensors");
    const read = (dtype: string, bits: Uint16Array | Float64Array): number[] => {
      oneTensor(file, dtype, [bits.length], new Uint8Array(bits.buffer));
      return [...readSafetensors(file)["x"]!.data];
    };
    // 1, −2, the largest, the least normal, the least of all, 1/3 rounded, −0 and the infinities.
    const half = [0x3c00, 0xc000, 0x7bff, 0x0400, 0x0001, 0x3555, 0x8000, 0x7c00, 0xfc00];
    const halves = [1, -2, 65_504, 2 ** -14, 2 ** -24, 0.333251953125, -0, Infinity, -Infinity];
    assert.deepEqual(read("F16", Uint16Array.from(half)), halves);
    assert.ok(Number.isNaN(read("F16", Uint16Array.of(0x7e00))[0]));
    const brain = [0x3f80, 0xc000, 0x3eab, 0x0080, 0x7f80];
    assert.deepEqual(read("BF16", Uint16Array.from(brain)), [1, -2, 0.333984375, 2 ** -126, Infinity]);
    assert.deepEqual(read("F64", Float64Array.of(0.5, -3)), [0.5, -3]);
    oneTensor(file, "I32", [1], new Uint8Array(4));
    assert.throws(() => readSafetensors(file), {
      message: /x is I32, and this engine reads only F32, F64, F16, BF16/,
    });
    oneTensor(file, "F32", [3], new Uint8Array(8));
    assert.throws(() => readSafetensors(file), {
      message: /data of x does not have the length of its extents/,
    });
  }));

test("matrices larger than a block come back from the folder's layout as they were", () => {
  const { shape } = openBase(folderOf("qwen3"));
  const larger: Shape = { ...shape, width: 72, hidden: 100, heads: 6, kv_heads: 3, head_width: 14 };
  const weights = initialWeights(larger, 3);
  const stored = toPublic(larger, weights);
  for (const [weight, tensors] of Object.entries(publicTensors(larger))) {
    const values = weights[weight]!;
    const extents = weightShapes(larger)[weight]!;
    assert.deepEqual(
      fromTensors(larger, extents, tensors, ({ name }) => stored[name]!.data),
      values,
      weight,
    );
  }
  // Row `output` of a projection is our column: the halves of a head lie side by side.
  const [key, ours] = [stored["model.layers.1.self_attn.k_proj.weight"]!, weights["1.qkv"]!];
  const columns = (6 + 2 * 3) * 14;
  for (const input of [0, 71])
    for (const [output, place] of [
      [0, 0],
      [1, 2],
      [7, 1],
      [8, 3],
      [14, 14],
      [41, 41],
    ] as const)
      assert.equal(key.data[output * 72 + input], ours[input * columns + 6 * 14 + place]);
});
