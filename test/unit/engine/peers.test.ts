/** Tokenizers and GGUF files that we write, read by transformers and by the gguf package: a Python that has both in GRADUS_PEER_PYTHON. */
import assert from "node:assert/strict";
import { execFileSync } from "node:child_process";
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { test } from "node:test";
import { z } from "zod";
import { unpacked } from "../../../server/engine/formats/gguf/blocks.ts";
import { readHeader } from "../../../server/engine/formats/gguf/header.ts";
import { openGgufWeights, readGgufHead, writeGguf } from "../../../server/engine/formats/gguf/index.ts";
import { tensorBytes } from "../../../server/engine/formats/gguf/tensors.ts";
import { readEvery } from "../../../server/engine/formats/model.ts";
import { tokenizerOf } from "../../../server/engine/formats/gguf/tokenizer.ts";
import { writeHuggingFace } from "../../../server/engine/formats/index.ts";
import { CharacterTokenizer } from "../../../server/engine/tokenizers/characters.ts";
import type { PolicyTokenizer } from "../../../server/engine/tokenizers/types.ts";
import { trainBytePairs } from "../../../server/engine/tokenizers/trainBytePairs.ts";
import { initialWeights } from "../../support/initialWeights.ts";

const python = process.env["GRADUS_PEER_PYTHON"];
const options = {
  skip: python === undefined ? "GRADUS_PEER_PYTHON names no Python with transformers and gguf" : false,
};
const ask = (script: string, ...words: readonly string[]): unknown =>
  JSON.parse(
    execFileSync(python!, [join("test", "optional", script), ...words], {
      encoding: "utf8",
      stdio: ["ignore", "pipe", "ignore"],
    }),
  );
async function inFolder(use: (folder: string) => void): Promise<void> {
  const folder = mkdtempSync(join(tmpdir(), "gradus-peers-"));
  try {
    use(folder);
  } finally {
    rmSync(folder, { recursive: true, force: true });
  }
}

const ascii = ['Using the numbers [3, 7, 25]:\n~{"x"} don\'t  1+1 ', "a", " "];
const wide = [...ascii, "日本語 🙂 émoji\t\u0000", "  42\n    7 <|im_end|>", "Hello, it's me"];
const fromGguf = (name: string): PolicyTokenizer =>
  tokenizerOf(readHeader(`test/fixtures/tokenizers/${name}.gguf`));
const kinds: readonly (readonly [string, () => PolicyTokenizer, readonly string[]])[] = [
  ["characters", () => new CharacterTokenizer(), ascii],
  ["a trained vocabulary", () => trainBytePairs(wide, 300, "trained"), wide],
  ["a byte-level GGUF file's", () => fromGguf("smollm"), wide],
  ["a SentencePiece GGUF file's", () => fromGguf("sentencepiece"), wide],
];
const idsSchema = z.object({
  ids: z.array(z.array(z.int())),
  texts: z.array(z.string()),
  chat: z.string().nullable(),
});

for (const [name, make, texts] of kinds)
  test(`transformers reads ${name} tokenizer out of a folder that we write`, options, () =>
    inFolder((folder) => {
      const tokenizer = make();
      const { shape } = readGgufHead("test/fixtures/gguf/llama.gguf");
      const sized = { ...shape, vocabulary: tokenizer.size };
      writeHuggingFace(folder, { shape: sized, weights: initialWeights(sized, 1), tokenizer });
      const theirs = idsSchema.parse(ask("ids.py", folder, JSON.stringify(texts)));
      assert.deepEqual(
        theirs.ids,
        texts.map((text) => [...tokenizer.encode(text)]),
      );
      assert.deepEqual(
        theirs.texts,
        theirs.ids.map((ids) => tokenizer.decode(ids)),
      );
      assert.equal(theirs.chat, tokenizer.chat([{ role: "user", content: "Hi" }]) ?? null);
    }),
  );

const readSchema = z.object({
  keys: z.record(z.string(), z.unknown()),
  tensors: z.record(z.string(), z.object({ extents: z.array(z.int()), values: z.array(z.number()) })),
});

for (const name of ["llama", "gemma3", "gpt2"])
  test(`the gguf package reads the ${name} file that we write`, options, () =>
    inFolder((folder) => {
      const source = readGgufHead(`test/fixtures/gguf/${name}.gguf`);
      const file = join(folder, "model.gguf");
      writeGguf(file, {
        ...source,
        weights: readEvery(source.shape, () => openGgufWeights(source.path, source.shape)),
        name: "test",
      });
      const theirs = readSchema.parse(ask("gguf.py", file));
      const header = readHeader(file);
      assert.deepEqual(new Map(Object.entries(theirs.keys)), header.metadata);
      assert.deepEqual(Object.keys(theirs.tensors), [...header.tensors.keys()]);
      for (const tensor of header.tensors.values()) {
        const { extents, values } = theirs.tensors[tensor.name]!;
        assert.deepEqual(extents, [...tensor.extents].reverse());
        const own = unpacked(tensor.type, tensorBytes(header, tensor));
        const sum = own.reduce((total, value) => total + value, 0);
        assert.ok(Math.abs(values[0]! - sum) < 1e-6 * own.length);
        assert.deepEqual(values.slice(1), [own[0], own.at(-1)]);
      }
    }),
  );
