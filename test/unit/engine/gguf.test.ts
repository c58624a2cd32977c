import assert from "node:assert/strict";
import { mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import test from "node:test";
import { gguf } from "@huggingface/gguf";
import { z } from "zod";
import { blockTypes, unpacked } from "../../../server/engine/formats/gguf/blocks.ts";
import { halfOf } from "../../../server/engine/formats/gguf/file.ts";
import { readHeader } from "../../../server/engine/formats/gguf/header.ts";
import { openGgufWeights, readGgufHead, writeGguf } from "../../../server/engine/formats/gguf/index.ts";
import { readEvery, type Weights } from "../../../server/engine/formats/model.ts";
import { tokenizerOf } from "../../../server/engine/formats/gguf/tokenizer.ts";
import { CharacterTokenizer } from "../../../server/engine/tokenizers/characters.ts";
import { type Shape } from "../../../server/engine/transformer/weights.ts";
import { initialWeights } from "../../support/initialWeights.ts";
import type { LanguageModel } from "../../../server/engine/policy.ts";
import { batchOf, largestDifference, open, tinyModel } from "./support.ts";

/** Made by the gguf package and transformers: see generate.py next to it. */
const folder = "test/fixtures/gguf";
const fixture = z
  .object({
    blocks: z.array(z.object({ name: z.string(), bytes: z.string(), values: z.string() })),
    models: z.array(
      z.object({
        name: z.string(),
        tokens: z.array(z.int()),
        logp: z.array(z.number()),
        entropy: z.array(z.number()),
      }),
    ),
  })
  .parse(JSON.parse(readFileSync(`${folder}/gguf.json`, "utf8")));

const readGgufWeights = (path: string, shape: Shape): Weights =>
  readEvery(shape, () => openGgufWeights(path, shape));
const bytesOf = (base64: string): Uint8Array => Uint8Array.from(Buffer.from(base64, "base64"));

for (const { name, bytes, values } of fixture.blocks)
  void test(`blocks of ${name} are the numbers that the gguf package makes of them, to the bit`, () => {
    const type = [...blockTypes.values()].find((known) => known.name === name);
    assert.ok(type);
    const expected = new Float32Array(bytesOf(values).buffer);
    assert.ok(expected.length >= 2 * type.count);
    assert.deepEqual(unpacked(type, bytesOf(bytes)), expected);
  });

const opened = (file: string): Promise<LanguageModel> => open({ model: { ...tinyModel(), base: file } });

for (const { name, tokens, logp, entropy } of fixture.models) {
  void test(`${name}: log-probabilities and entropies of a file are those of transformers' model`, async () => {
    const policy = await opened(`${folder}/${name}.gguf`);
    try {
      const batch = batchOf([{ context: tokens.slice(0, 1), tokens: tokens.slice(1) }]);
      const stats = await policy.score(batch, { model: "policy", channels: ["logp", "entropy"] });
      assert.ok(largestDifference(stats.logp!, logp) < 1e-4);
      assert.ok(largestDifference(stats.entropy!, entropy) < 1e-4);
    } finally {
      policy.close();
    }
  });

  void test(`${name}: the header is what @huggingface/gguf reads`, async () => {
    const file = `${folder}/${name}.gguf`;
    const { metadata, tensorInfos, tensorDataOffset } = await gguf(file, { allowLocalFile: true });
    const theirs = new Map(Object.entries(metadata).map(([key, value]) => [key, plain(value)]));
    const header = readHeader(file);
    for (const [key, value] of header.metadata) assert.deepEqual(value, theirs.get(key), key);
    assert.equal(header.tensors.size, tensorInfos.length);
    for (const { name: tensor, shape, dtype, offset } of tensorInfos) {
      const own = header.tensors.get(tensor)!;
      assert.deepEqual([...own.extents].reverse(), shape.map(Number));
      assert.equal(own.type.id, dtype);
      assert.equal(own.offset, Number(tensorDataOffset + offset));
    }
  });
}
/** Their 64-bit integers as numbers. */
const plain = (value: unknown): unknown =>
  typeof value === "bigint" ? Number(value) : Array.isArray(value) ? value.map(plain) : value;

void test("what is wrong with a file is said with its name", () => {
  const place = mkdtempSync(join(tmpdir(), "gradus-gguf-"));
  const whole = readFileSync(`${folder}/qwen2.gguf`);
  const file = join(place, "model.gguf");
  const written = (bytes: Uint8Array): string => {
    writeFileSync(file, bytes);
    return file;
  };
  const replaced = (from: string, to: string): Uint8Array => {
    const text = whole.toString("latin1");
    assert.ok(text.includes(from) && from.length === to.length);
    return Buffer.from(text.replaceAll(from, to), "latin1");
  };
  try {
    assert.throws(
      () => readGgufHead(join(place, "none.gguf")),
      /none\.gguf cannot be read as GGUF: there is no such file/,
    );
    assert.throws(() => readGgufHead(written(Buffer.from("PK".repeat(20)))), /does not begin with GGUF/);
    assert.throws(() => readGgufHead(written(whole.subarray(0, 300))), /cut short inside its header/);
    assert.throws(() => readGgufHead(written(whole.subarray(0, -100))), /cut short: the tensor/);
    assert.throws(() => readGgufHead(written(replaced("qwen2", "qwen9"))), /its architecture is qwen9/);
    assert.throws(
      () => readGgufHead(written(replaced("qwen2.block_count", "qwen2.block_xxxxx"))),
      /lacks qwen2\.block_count/,
    );
    const strange = written(replaced("blk.1.ffn_up.weight", "blk.1.ffn_xx.weight"));
    assert.throws(
      () => readGgufWeights(strange, readGgufHead(strange).shape),
      /blk\.1\.ffn_xx\.weight, which a qwen2 model/,
    );
    const typed = Buffer.from(whole);
    // The type of token_embd.weight: after its name, its number of dimensions and two extents.
    typed.writeUInt32LE(99, whole.indexOf("token_embd.weight") + "token_embd.weight".length + 4 + 16);
    assert.throws(() => readGgufHead(written(typed)), /token_embd\.weight has the quantisation number 99/);
  } finally {
    rmSync(place, { recursive: true, force: true });
  }
});

async function inFolder<T>(use: (place: string) => T | Promise<T>): Promise<T> {
  const place = mkdtempSync(join(tmpdir(), "gradus-gguf-"));
  try {
    return await use(place);
  } finally {
    rmSync(place, { recursive: true, force: true });
  }
}

for (const { name } of fixture.models)
  void test(`${name}: written and read again it is the same model, and written again the same file`, () =>
    inFolder((place) => {
      const source = `${folder}/${name}.gguf`;
      const head = readGgufHead(source);
      const weights = readGgufWeights(source, head.shape);
      const [first, second] = [join(place, "first.gguf"), join(place, "second.gguf")];
      writeGguf(first, { ...head, weights, name });
      const again = readGgufHead(first);
      assert.deepEqual(again.shape, head.shape);
      assert.deepEqual(readGgufWeights(first, again.shape), weights);
      assert.deepEqual(again.tokenizer.encode("a(b)"), head.tokenizer.encode("a(b)"));
      writeGguf(second, { ...again, weights: readGgufWeights(first, again.shape), name });
      assert.ok(readFileSync(first).equals(readFileSync(second)));
    }));

for (const name of ["smollm", "sentencepiece"])
  void test(`the ${name} tokenizer and its template survive a file of ours`, () =>
    inFolder((place) => {
      const file = join(place, "model.gguf");
      const { shape } = readGgufHead(`${folder}/qwen2.gguf`);
      const tokenizer = tokenizerOf(readHeader(`test/fixtures/tokenizers/${name}.gguf`));
      const sized = { ...shape, vocabulary: tokenizer.size };
      writeGguf(file, { shape: sized, weights: initialWeights(sized, 1), tokenizer, name });
      const again = readGgufHead(file).tokenizer;
      const text = " Hello  日本語 🙂\n42<|im_end|> <tool>";
      assert.deepEqual(again.encode(text), tokenizer.encode(text));
      assert.equal(again.decode(tokenizer.encode(text)), tokenizer.decode(tokenizer.encode(text)));
      const chat = [{ role: "user", content: "x" }];
      assert.equal(again.chat(chat), tokenizer.chat(chat));
      assert.deepEqual(
        [again.eosAll, again.bos, again.pad, [...again.special]],
        [tokenizer.eosAll, tokenizer.bos, tokenizer.pad, [...tokenizer.special]],
      );
    }));

void test("a tiny model with its characters becomes a file that any reader of byte pairs reads", () =>
  inFolder((place) => {
    const file = join(place, "tiny.gguf");
    const tokenizer = new CharacterTokenizer();
    const { shape } = readGgufHead(`${folder}/llama.gguf`);
    const sized = { ...shape, vocabulary: tokenizer.size };
    writeGguf(file, { shape: sized, weights: initialWeights(sized, 1), tokenizer, name: "tiny" });
    const again = readGgufHead(file).tokenizer;
    const text = "3 + 4 = 7\n~ it's";
    assert.deepEqual(again.encode(text), tokenizer.encode(text));
    assert.equal(again.decode(again.encode(text)), text);
    assert.deepEqual({ pad: again.pad, bos: again.bos, eos: again.eos }, { pad: 0, bos: 1, eos: 2 });
  }));

void test("what GGUF has no place for is refused by name", () =>
  inFolder((place) => {
    const head = readGgufHead(`${folder}/qwen3.gguf`);
    const weights = readGgufWeights(head.path, head.shape);
    const other = { ...head.shape, style: { ...head.shape.style, query_scale: 0.5 } };
    assert.throws(
      () => writeGguf(join(place, "x.gguf"), { ...head, shape: other, weights, name: "x" }),
      /GGUF cannot hold this model's query_scale/,
    );
    assert.deepEqual(readdirSync(place), []);
  }));

void test("numbers are rounded to the nearest half, ties to even", () => {
  const { unpack } = blockTypes.get(1)!;
  const value = (half: number): number => {
    const out = new Float32Array(1);
    unpack(Uint8Array.of(half & 255, half >> 8), 0, out, 0);
    return out[0]!;
  };
  for (let half = 0; half < 0x7c00; half++) {
    assert.equal(halfOf(value(half)), half);
    const middle = (value(half) + value(half + 1)) / 2;
    if (half < 0x7bff) assert.equal(halfOf(middle), half + (half & 1));
    assert.equal(halfOf(-value(half)), half | 0x8000);
  }
  assert.equal(halfOf(1e6), 0x7c00);
  assert.equal(Number.isNaN(value(halfOf(NaN))), true);
});
