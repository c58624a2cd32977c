import assert from "node:assert/strict";
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import test from "node:test";
import { z } from "zod";
import { messageOf } from "../../../shared/lib/errors.ts";
import type { JsonObject } from "../../../shared/lib/json.ts";
import { readHeader } from "../../../server/engine/formats/gguf/header.ts";
import { tokenizerOf } from "../../../server/engine/formats/gguf/tokenizer.ts";
import { ChatTemplate } from "../../../server/engine/tokenizers/chatTemplate.ts";
import { CharacterTokenizer } from "../../../server/engine/tokenizers/characters.ts";
import type { PolicyTokenizer } from "../../../server/engine/tokenizers/types.ts";
import {
  HuggingFaceTokenizer,
  readTokenizer,
  TextStream,
  writeTokenizer,
} from "../../../server/engine/tokenizers/index.ts";
import { solved } from "../../../server/run/stages/supervised.ts";
import { LEAST_VOCABULARY, trainBytePairs } from "../../../server/engine/tokenizers/trainBytePairs.ts";

/** Made by transformers: see generate.py next to it. */
const folder = "test/fixtures/tokenizers";
const object = z.record(z.string(), z.json());
const fixture = z
  .object({
    corpus: z.array(z.string()),
    kinds: z.array(
      z.object({
        name: z.string(),
        tokenizer: object,
        prefix: z.array(z.int()),
        ids: z.array(z.array(z.int())),
        texts: z.array(z.string()),
        half: z.object({ ids: z.array(z.int()), text: z.string() }),
        gguf: z.string().nullable(),
      }),
    ),
    chats: z.array(
      z.object({
        name: z.string(),
        template: z.string(),
        messages: z.array(z.object({ role: z.string(), content: z.string() })),
        add_generation_prompt: z.boolean(),
        variables: object,
        text: z.string(),
      }),
    ),
  })
  .parse(JSON.parse(readFileSync(`${folder}/tokenizers.json`, "utf8")));

const config: JsonObject = { bos_token: "<s>", eos_token: { content: "</s>" }, pad_token: "<pad>" };
const opened = (tokenizer: JsonObject, more: JsonObject = {}): HuggingFaceTokenizer =>
  new HuggingFaceTokenizer({
    tokenizer,
    config: { ...config, ...more },
    name: "test",
    file: "tokenizer.json",
  });

function streamed(tokenizer: PolicyTokenizer, ids: readonly number[]): string {
  const stream = new TextStream((tokens) => tokenizer.decode(tokens));
  return ids.map((id) => stream.push(id)).join("") + stream.end();
}

for (const { name, tokenizer: json, prefix, ids, texts, half } of fixture.kinds) {
  void test(`${name}: ids and texts of the corpus are those of transformers, also in a stream`, () => {
    const tokenizer = opened(json);
    fixture.corpus.forEach((text, index) => {
      assert.deepEqual([...tokenizer.encode(text)], ids[index], JSON.stringify(text));
      assert.equal(tokenizer.decode(ids[index]!), texts[index]);
      assert.equal(streamed(tokenizer, ids[index]!), texts[index]);
    });
    assert.equal(tokenizer.decode(half.ids), half.text);
    assert.deepEqual(tokenizer.prefix, prefix);
  });
}

for (const { name, gguf, ids, texts } of fixture.kinds) {
  if (gguf === null) continue;
  void test(`${name}: the same from the metadata of a GGUF file`, () => {
    const tokenizer = tokenizerOf(readHeader(`${folder}/${gguf}`));
    fixture.corpus.forEach((text, index) => {
      assert.deepEqual([...tokenizer.encode(text)], ids[index], JSON.stringify(text));
      assert.equal(tokenizer.decode(ids[index]!), texts[index]);
    });
    assert.ok(tokenizer.hasChat);
    const named = (id: number): string =>
      ["<s>", "</s>", "<pad>"][[tokenizer.bos, tokenizer.eos, tokenizer.pad].indexOf(id)] ?? "";
    assert.deepEqual([tokenizer.bos, tokenizer.eos, tokenizer.pad].map(named), ["<s>", "</s>", "<pad>"]);
  });
}

void test("a stream gives no half characters and loses nothing", () => {
  const tokenizer = opened(fixture.kinds[0]!.tokenizer);
  const ids = [...tokenizer.encode("é🙂 ok")];
  const stream = new TextStream((tokens) => tokenizer.decode(tokens));
  const pieces = ids.map((id) => stream.push(id));
  assert.ok(pieces.every((piece) => !piece.includes("\ufffd")));
  assert.equal(pieces.join(""), "é🙂 ok");
  assert.equal(stream.end(), "");
  const cut = new TextStream((tokens) => tokenizer.decode(tokens));
  const [first] = tokenizer.encode("🙂");
  assert.equal(cut.push(first!), "");
  assert.equal(cut.end(), "\ufffd");
});

void test("every end of a turn is known: named, listed by generation_config.json, or special by a published name", () => {
  const { tokenizer } = fixture.kinds[0]!;
  const end = opened(tokenizer).encode("<|im_end|>")[0]!;
  const eos = opened(tokenizer).encode("</s>")[0]!;
  assert.deepEqual(opened(tokenizer).eosAll, [eos, end]);
  const listed = new HuggingFaceTokenizer({
    tokenizer,
    config,
    generation: { eos_token_id: [end, 7] },
    name: "test",
    file: "tokenizer.json",
  });
  assert.deepEqual(listed.eosAll, [eos, end, 7]);
});

for (const [
  index,
  { name, template, messages, add_generation_prompt, variables, text },
] of fixture.chats.entries())
  void test(`chat template ${name} ${index % 4} renders as transformers' apply_chat_template`, () => {
    const chat = new ChatTemplate(template, { bos_token: "<s>", eos_token: "</s>" }, "test");
    assert.equal(chat.render(messages, { add_generation_prompt, variables }), text);
  });

void test("a template's own refusal reaches the person", () => {
  const gemma = fixture.chats.find(({ name }) => name === "gemma")!;
  const chat = new ChatTemplate(gemma.template, { bos_token: "<s>" }, "model.gguf");
  assert.throws(() => chat.render([{ role: "assistant", content: "x" }]), /roles must alternate/);
  assert.throws(
    () => new ChatTemplate("{% if %}", {}, "model.gguf"),
    /model\.gguf: the chat template cannot be read/,
  );
});

void test("where the tokenizer's config names no end, the model's own does, or the map of special tokens", () => {
  const place = mkdtempSync(join(tmpdir(), "gradus-tokenizer-"));
  const write = (name: string, json: unknown): void => writeFileSync(join(place, name), JSON.stringify(json));
  try {
    const { tokenizer } = fixture.kinds[0]!;
    const id = (token: string): number => opened(tokenizer).encode(token)[0]!;
    const [eos, end, bos] = ["</s>", "<|im_end|>", "<s>"].map(id);
    const plain = {
      ...tokenizer,
      added_tokens: z
        .array(object)
        .parse(tokenizer["added_tokens"])
        .map((token) => ({ ...token, special: false })),
    };
    write("tokenizer.json", plain);
    assert.throws(() => readTokenizer(place), /does not name an end-of-sequence token/);
    write("config.json", { eos_token_id: [eos, end], bos_token_id: bos });
    assert.deepEqual(readTokenizer(place).eosAll, [eos, end]);
    assert.deepEqual({ bos: readTokenizer(place).bos, pad: readTokenizer(place).pad }, { bos, pad: eos });
    write("generation_config.json", { eos_token_id: end, pad_token_id: 2 });
    assert.deepEqual(
      { eosAll: readTokenizer(place).eosAll, pad: readTokenizer(place).pad },
      { eosAll: [end], pad: 2 },
    );
    write("special_tokens_map.json", { eos_token: { content: "</s>" } });
    write("tokenizer_config.json", { eos_token: null });
    assert.deepEqual(readTokenizer(place).eosAll, [eos, end]);
  } finally {
    rmSync(place, { recursive: true, force: true });
  }
});

void test("a task's prompt is the user's turn where there is a template, else plain text as the model was trained", () => {
  const { tokenizer } = fixture.kinds.find(({ name }) => name === "smollm")!;
  const chats = opened(tokenizer, { chat_template: fixture.chats[0]!.template });
  const text = chats.chat([{ role: "user", content: "Hi" }])!;
  assert.match(text, /user\nHi/);
  const task = { id: "a", source: "a", env: "a", prompt: "Hi", solution: "Hello", data: {} };
  const plain = opened(fixture.kinds.find(({ name }) => name === "llama-bpe")!.tokenizer);
  assert.deepEqual([...solved([task], plain).context.values], [plain.bos, ...plain.encode("Hi")]);
  const { context, tokens } = solved([task], chats);
  assert.deepEqual(context.values, chats.encode(text));
  assert.deepEqual([...tokens], [...chats.encode("Hello"), chats.eos]);
});

void test("a tokenizer written to a folder is read back the same", () => {
  const place = mkdtempSync(join(tmpdir(), "gradus-tokenizer-"));
  try {
    const { tokenizer, ids } = fixture.kinds[1]!;
    const template = fixture.chats[0]!.template;
    writeTokenizer(place, opened(tokenizer, { chat_template: template }));
    const again = readTokenizer(place);
    fixture.corpus.forEach((text, index) => assert.deepEqual([...again.encode(text)], ids[index]));
    assert.equal(
      again.chat([{ role: "user", content: "x" }]),
      opened(tokenizer, { chat_template: template }).chat([{ role: "user", content: "x" }]),
    );
    writeFileSync(join(place, "tokenizer.json"), `{"gradus": "characters"}`);
    assert.equal(readTokenizer(place).name, "characters");
    writeFileSync(join(place, "tokenizer.json"), `{"model": {"type": "Nonsense", "vocab": {}}}`);
    assert.throws(
      () => readTokenizer(place),
      (error) => messageOf(error).startsWith(`${join(place, "tokenizer.json")} is not a tokenizer`),
    );
    rmSync(join(place, "tokenizer.json"));
    assert.throws(() => readTokenizer(place), /there is no such file/);
  } finally {
    rmSync(place, { recursive: true, force: true });
  }
});

void test("the characters' tokenizer.json gives the same ids in a pipeline that knows nothing of it", () => {
  const characters = new CharacterTokenizer();
  const files = characters.files();
  const pipeline = new HuggingFaceTokenizer({
    tokenizer: files["tokenizer.json"]!,
    config: files["tokenizer_config.json"]!,
    name: "test",
    file: "tokenizer.json",
  });
  const text = 'Using the numbers [3, 7, 25]:\n~{\\"x\\"} don\'t  1+1 ';
  assert.deepEqual(pipeline.encode(text), characters.encode(text));
  assert.equal(pipeline.decode(characters.encode(text)), text);
  assert.deepEqual(
    { pad: pipeline.pad, bos: pipeline.bos, eos: pipeline.eos, size: pipeline.size },
    { pad: characters.pad, bos: characters.bos, eos: characters.eos, size: characters.size },
  );
});

const texts = [
  "Using the numbers 3, 7 and 25, make 46.\n",
  "Using the numbers 12, 9 and 4, make 31.\n",
  "The numbers make it, don't they? They're numbers.",
];

void test("a trained vocabulary joins what occurs often, is the same every time and loses no text", () => {
  const trained = trainBytePairs(texts, 280, "trained");
  assert.equal(trained.size, 280);
  assert.deepEqual(trainBytePairs(texts, 280, "again").files(), trained.files());
  const [numbers] = trained.encode(" numbers");
  assert.deepEqual([...trained.encode(" numbers numbers")], [numbers, numbers]);
  const other = "émoji 🙂\n\ttabs\u0000 日本";
  assert.equal(trained.decode(trained.encode(other)), other);
  assert.ok(trained.encode(texts[0]!).length < 0.75 * texts[0]!.length);
  assert.deepEqual(
    { pad: trained.pad, bos: trained.bos, eos: trained.eos, prefix: trained.prefix },
    { pad: 0, bos: 1, eos: 2, prefix: [] },
  );
});

void test("the first pair that is joined is the most frequent one, of equals the first in the order of bytes", () => {
  const merges = (text: string): unknown =>
    z
      .object({ model: z.object({ merges: z.array(z.tuple([z.string(), z.string()])) }) })
      .parse(trainBytePairs([text], 262, "trained").files()["tokenizer.json"]).model.merges;
  assert.deepEqual(merges("xyz xyz abz abz abz"), [
    ["\u0120", "a"],
    ["b", "z"],
    ["\u0120a", "bz"],
  ]);
});

void test("training stops where nothing occurs twice, and a trained tokenizer is read back from its folder", () => {
  const place = mkdtempSync(join(tmpdir(), "gradus-tokenizer-"));
  try {
    const trained = trainBytePairs(texts, 4096, "trained");
    assert.ok(trained.size > LEAST_VOCABULARY && trained.size < 400);
    writeTokenizer(place, trained);
    const again = readTokenizer(place);
    for (const text of [...texts, ...fixture.corpus])
      assert.deepEqual(again.encode(text), trained.encode(text));
  } finally {
    rmSync(place, { recursive: true, force: true });
  }
});

void test("other programs' white space is not JavaScript's: words are cut the same in training and in use", () => {
  const text = "a\u0085b\ufeffc a\u0085b\ufeffc a\u0085b\ufeffc";
  const trained = trainBytePairs([text], 400, "trained");
  assert.equal(trained.decode(trained.encode(text)), text);
  assert.equal(trained.encode(text).length, 3 * 5);
});
