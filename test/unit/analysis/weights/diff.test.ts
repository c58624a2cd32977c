/** Whole models: what a part is called, changes that were planted in a stored model, and what cannot be compared. */
import assert from "node:assert/strict";
import { cpSync, rmSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { after, describe, it } from "node:test";
import { openNamed, type OpenedModel } from "../../../../server/analysis/weights/comparable.ts";
import { diffWeights, type DiffOptions } from "../../../../server/analysis/weights/diff.ts";
import { partsOf } from "../../../../server/analysis/weights/parts.ts";
import { openBase, readWeights, writeHuggingFace } from "../../../../server/engine/formats/index.ts";
import { parameterCount } from "../../../../server/engine/transformer/weights.ts";
import { familyNames, folderOf } from "../../engine/families.ts";
import { temporary } from "../../support.ts";

const options: DiffOptions = { topK: 4, share: 0.5, side: 1024 };
const folder = temporary();
after(() => rmSync(folder, { recursive: true, force: true }));

const named = (path: string, name = path): OpenedModel => openNamed({ name, path }, "the other");

/** A stored model with some of its weights changed. */
function changed(
  name: string,
  from: string,
  change: (weights: Record<string, Float32Array>) => void,
): OpenedModel {
  const head = openBase(from);
  const weights = readWeights(head);
  change(weights);
  const path = join(folder, name);
  writeHuggingFace(path, { shape: head.shape, weights, tokenizer: head.tokenizer });
  return named(path, name);
}

describe("parts of a model", () => {
  for (const family of familyNames)
    it(`are all of its weights, each with a name of its own: ${family}`, () => {
      const { shape } = openBase(folderOf(family));
      const parts = [...partsOf(shape).values()].flat();
      assert.equal(
        parts.reduce((sum, { rows, columns }) => sum + rows * columns, 0),
        parameterCount(shape),
      );
      assert.equal(new Set(parts.map(({ name }) => name)).size, parts.length);
      for (const kind of ["q", "k", "v", "o", "up", "down", "norm", "embedding"])
        assert.ok(
          parts.some((part) => part.kind === kind),
          kind,
        );
    });

  it("are named as a Hugging Face folder names them", () => {
    const names = (family: "qwen2" | "gpt2"): string[] =>
      [...partsOf(openBase(folderOf(family)).shape).values()].flat().map(({ name }) => name);
    assert.ok(names("qwen2").includes("model.layers.0.self_attn.k_proj.weight"));
    assert.ok(names("qwen2").includes("model.layers.0.self_attn.q_proj.bias"));
    assert.ok(names("gpt2").includes("transformer.h.0.attn.c_attn.weight#v"));
  });
});

describe("planted changes", () => {
  const base = named(folderOf("qwen2"), "base");
  const { heads, kv_heads: kv, head_width: head, width } = base.head.shape;
  const stride = (heads + 2 * kv) * head;
  const up = changed("up", folderOf("qwen2"), (weights) => {
    const values = weights["1.up"]!;
    for (let i = 0; i < values.length; i += 4) values[i]! += 0.25;
  });
  const keys = changed("keys", folderOf("qwen2"), (weights) => {
    const values = weights["0.qkv"]!;
    for (let row = 0; row < width; row++) values[row * stride + heads * head]! += 0.5;
    for (let i = 0; i < weights["1.up"]!.length; i += 8) weights["1.up"]![i]! += 0.25;
  });

  it("are found where they are, and nowhere else", () => {
    const found = diffWeights(base, up, undefined, options);
    assert.deepEqual(
      found.kinds.flatMap(({ kind, moved }) => (moved > 0 ? [kind] : [])),
      ["up"],
    );
    const matrix = found.matrices.find(({ moved }) => moved > 0)!;
    assert.equal(matrix.name, "model.layers.1.mlp.up_proj.weight");
    assert.ok(Math.abs(matrix.moved - 0.25) < 0.01);
    assert.equal(matrix.visible, matrix.moved);
    assert.deepEqual(
      found.layers.map(({ layer, moved }) => [layer, moved > 0]),
      found.layers.map(({ layer }) => [layer, layer === 1]),
    );
    assert.ok(found.total.spectral!.spectral_shift! > 0);
  });

  it("in a column of the keys alone have rank one", () => {
    const { matrices } = diffWeights(base, keys, undefined, options);
    const matrix = matrices.find(({ kind, moved }) => kind === "k" && moved > 0)!;
    assert.equal(matrix.name, "model.layers.0.self_attn.k_proj.weight");
    assert.equal(matrix.moved, 1 / (kv * head));
    assert.equal(matrix.geometry!.change.rank_99, 1);
    assert.ok(matrices.every(({ kind, moved }) => !["q", "v"].includes(kind) || moved === 0));
  });

  it("of two changes from one base share what both move", () => {
    const { kinds, total } = diffWeights(up, keys, base, options);
    const { overlap } = kinds.find(({ kind }) => kind === "up")!;
    assert.ok(Math.abs(overlap!.visible.jaccard! - 0.5) < 0.01);
    assert.equal(overlap!.visible.of_b, 1);
    assert.ok(total.overlap!.visible.jaccard! < 0.5);
  });

  it("are counted in matrices that are too large for singular values, which are named", () => {
    const { total, left_out, matrices } = diffWeights(base, up, undefined, { ...options, side: 1 });
    assert.equal(total.spectral, null);
    assert.ok(total.moved > 0);
    assert.equal(left_out.length, matrices.filter(({ shape }) => shape.length === 2).length);
  });

  it("that are no numbers are refused", () => {
    const broken = changed("broken", folderOf("qwen2"), (weights) => void (weights["norm"]![0] = NaN));
    assert.throws(() => diffWeights(base, broken, undefined, options), {
      message: "model.norm.weight has numbers that are not finite.",
    });
  });

  it("are not looked for between models of other shapes, and an adapter alone is none", () => {
    const other = named(folderOf("llama"), "other");
    assert.throws(() => diffWeights(base, other, undefined, options), {
      message: "base and other are not of one shape: the architecture (qwen2 and llama).",
    });
    assert.throws(() => diffWeights(base, up, other, options), /base and other are not of one shape/);
    // The same tokens but for the one that ends a text, as another model's file would have it.
    const differing = { eos: { value: 7 }, files: { value: () => ({}) } };
    const tokenizer = Object.create(base.head.tokenizer, differing) as typeof base.head.tokenizer;
    const words = { ...base, name: "words", head: { ...base.head, tokenizer } };
    assert.throws(
      () => diffWeights(base, words, undefined, options),
      /^UserError: base and words have different/,
    );
    const adapter = join(folder, "adapter");
    cpSync(folderOf("qwen2"), adapter, { recursive: true });
    rmSync(join(adapter, "config.json"));
    writeFileSync(join(adapter, "adapter_config.json"), "{}");
    assert.throws(() => openNamed({ name: "lora", path: adapter }, "base"), {
      message: "lora is an adapter without its model, so it cannot be compared with base.",
    });
  });
});
