import assert from "node:assert/strict";
import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { basename, join } from "node:path";
import { test } from "node:test";
import { openPolicy } from "../../../server/engine/index.ts";
import { writeTokenizer } from "../../../server/engine/tokenizers/index.ts";
import { trainBytePairs } from "../../../server/engine/tokenizers/trainBytePairs.ts";
import { taskTexts } from "../../../server/algorithm/curriculum/taskTexts.ts";
import { clean, load, start } from "../../support/loaded.ts";
import { collect, open, optimizer, tinyModel } from "./support.ts";

const texts = ["Use the numbers 3 and 4.\n", "Use the numbers 5 and 6.\n", "日本 and 日本\n"];
const bytePairs = (file?: string, vocabulary = 270) => ({
  ...tinyModel(),
  tokenizer: { use: "bpe", vocabulary, file } as const,
});

async function inFolder(use: (folder: string) => Promise<void>): Promise<void> {
  const folder = mkdtempSync(join(tmpdir(), "gradus-tiny-"));
  try {
    await use(folder);
  } finally {
    rmSync(folder, { recursive: true, force: true });
  }
}

test("a tiny model with byte pairs of its tasks' texts writes and is continued with the same vocabulary", () =>
  inFolder(async (folder) => {
    const policy = await open({ model: bytePairs(), texts: () => texts });
    const checkpoint = join(folder, "checkpoint");
    await policy.save(checkpoint);
    const prompt = { tokens: policy.tokenizer.encode("Use the 日本"), key: ["a"] };
    assert.ok(prompt.tokens.length < Buffer.byteLength("Use the 日本"));
    const [before] = await collect(policy, [prompt], { max_tokens: 8 });
    const again = await open({ model: bytePairs(), from: checkpoint });
    assert.deepEqual(again.tokenizer.encode(texts.join("")), policy.tokenizer.encode(texts.join("")));
    assert.deepEqual((await collect(again, [prompt], { max_tokens: 8 }))[0]!.tokens, before!.tokens);
    const other = await open({
      model: bytePairs(),
      texts: () => ["Quite other words, other words.\n".repeat(3), ...texts],
    });
    assert.equal(other.shape.vocabulary, policy.shape.vocabulary);
    await assert.rejects(
      other.load(checkpoint),
      /The checkpoint .* and the policy have different tokenizers .* its weights belong to other tokens/,
    );
    for (const opened of [policy, again, other]) opened.close();
  }));

test("a text file is learned from, a folder's tokenizer is taken, and a missing one is named", () =>
  inFolder(async (folder) => {
    const file = join(folder, "corpus.txt");
    writeFileSync(file, texts.join(""));
    const learned = await open({ model: bytePairs(file) });
    const expected = trainBytePairs([texts.join("")], 270, "x");
    assert.deepEqual(learned.tokenizer.encode(texts[0]!), expected.encode(texts[0]!));
    writeTokenizer(folder, expected);
    const taken = await open({ model: bytePairs(folder) });
    assert.equal(taken.shape.vocabulary, expected.size);
    for (const opened of [learned, taken]) opened.close();
    await assert.rejects(
      openPolicy({
        model: bytePairs(join(folder, "none.txt")),
        optimizer: optimizer(),
        backend: "native",
        seed: 1,
      }),
      /none\.txt cannot be read: there is no such file/,
    );
  }));

const config = (text: string) => clean(load({ "a.gradus.yaml": `${start}${text}` })).config!;

test("model.tokenizer: characters by default, by name, or with a vocabulary and a file next to the config", () => {
  assert.deepEqual(config("").model.tokenizer, { use: "characters" });
  assert.deepEqual(config("model: { tokenizer: characters }\n").model.tokenizer, { use: "characters" });
  assert.deepEqual(config("model: { tokenizer: bpe }\n").model.tokenizer, {
    use: "bpe",
    vocabulary: 1024,
    file: undefined,
  });
  const named = config("model: { tokenizer: { use: bpe, vocabulary: 512, file: corpus.txt } }\n").model
    .tokenizer;
  assert.ok(named?.use === "bpe" && named.vocabulary === 512 && basename(named.file ?? "") === "corpus.txt");
  const { diagnostics } = load({
    "a.gradus.yaml": `${start}model: { tokenizer: { use: bpe, vocabulary: 20 } }\n`,
  });
  assert.match(diagnostics.map(({ message }) => message).join(), /vocabulary/);
});

test("the tasks' texts are prompts and solutions of training tasks, the same every time", () => {
  const run = config("model: { tokenizer: bpe }\n");
  const first = [...taskTexts(run)];
  assert.ok(first.length >= 1024);
  assert.deepEqual([...taskTexts(run)], first);
  const tokenizer = trainBytePairs(first, 400, "tasks");
  const prompt = first[0]!;
  assert.ok(tokenizer.encode(prompt).length < 0.75 * prompt.length);
});
