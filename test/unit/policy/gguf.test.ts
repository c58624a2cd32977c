import assert from "node:assert/strict";
import { readFileSync, mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import test from "node:test";
import { gguf } from "@huggingface/gguf";
import { z } from "zod";
import { openBackend } from "../../../server/policy/backend.ts";
import { blockTypes, unpacked } from "../../../server/policy/formats/gguf/blocks.ts";
import { readHeader } from "../../../server/policy/formats/gguf/header.ts";
import { readGgufHead, readGgufWeights } from "../../../server/policy/formats/gguf/index.ts";
import { LanguageModel } from "../../../server/policy/policy.ts";
import { batchOf, largestDifference, optimizer } from "./support.ts";

/** Made by the gguf package and transformers: see generate.py beside it. */
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

const bytesOf = (base64: string): Uint8Array => Uint8Array.from(Buffer.from(base64, "base64"));

for (const { name, bytes, values } of fixture.blocks)
  void test(`blocks of ${name} are the numbers that the gguf package makes of them, to the bit`, () => {
    const type = [...blockTypes.values()].find((known) => known.name === name);
    assert.ok(type);
    const expected = new Float32Array(bytesOf(values).buffer);
    assert.ok(expected.length >= 2 * type.count);
    assert.deepEqual(unpacked(type, bytesOf(bytes)), expected);
  });

async function opened(file: string): Promise<LanguageModel> {
  const { shape, tokenizer } = readGgufHead(file);
  return new LanguageModel({
    ...(await openBackend("native", 2, 0)),
    shape,
    tokenizer,
    weights: readGgufWeights(file, shape),
    optimizer: optimizer(),
    micro_tokens: 2048,
    kept_bytes: 0,
  });
}

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
