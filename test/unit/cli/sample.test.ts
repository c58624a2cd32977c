import assert from "node:assert/strict";
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { after, before, test } from "node:test";
import { readHeader } from "../../../server/engine/formats/gguf/header.ts";
import { writeGguf } from "../../../server/engine/formats/gguf/index.ts";
import { tokenizerOf } from "../../../server/engine/formats/gguf/tokenizer.ts";
import { writeHuggingFace } from "../../../server/engine/formats/index.ts";
import type { PolicyTokenizer } from "../../../server/engine/tokenizers/types.ts";
import { llamaStyle, type Shape } from "../../../server/engine/transformer/weights.ts";
import { initialWeights } from "../../support/initialWeights.ts";
import { gradus } from "../../support/cli.ts";
import { collect, open, tinyModel } from "../engine/support.ts";

const tokenizer = tokenizerOf(readHeader("test/fixtures/tokenizers/smollm.gguf"));
const shape: Shape = {
  vocabulary: tokenizer.size,
  width: 16,
  layers: 1,
  heads: 2,
  kv_heads: 1,
  head_width: 8,
  hidden: 24,
  context: 160,
  tied: true,
  rope_theta: 10_000,
  epsilon: 1e-5,
  style: llamaStyle(8),
};
/** Such that greedy answers are not one token for ever. */
const weights = Object.fromEntries(
  Object.entries(initialWeights(shape, 5)).map(([name, values]) => [
    name,
    values.length === shape.width ? values : values.map((value) => value * 40),
  ]),
);

let place = "";
before(() => {
  place = mkdtempSync(join(tmpdir(), "gradus-sample-"));
  writeGguf(join(place, "chat.gguf"), { shape, weights, tokenizer, name: "chat" });
  writeHuggingFace(join(place, "folder"), { shape, weights, tokenizer });
});
after(() => rmSync(place, { recursive: true, force: true }));

async function greedy(tokens: Int32Array): Promise<string> {
  const policy = await open({ model: { ...tinyModel(), base: join(place, "chat.gguf") } });
  try {
    const [sample] = await collect(policy, [{ tokens, key: ["x"] }], { temperature: 0, max_tokens: 12 });
    assert.equal(sample!.finish === "stop", tokenizer.eosAll.includes(sample!.tokens.at(-1)!));
    return tokenizer.decode(sample!.tokens);
  } finally {
    policy.close();
  }
}
const chat = (known: PolicyTokenizer, ...said: readonly [string, string][]): Int32Array =>
  known.encode(known.chat(said.map(([role, content]) => ({ role, content })))!);
const short = ["--temperature", "0", "--max-tokens", "12"];

void test("a chat model is asked in its own template, with --system before the prompt", async () => {
  const file = join(place, "chat.gguf");
  const asked = await gradus(["sample", file, "--prompt", "hi", "--system", "Be brief.", "--json", ...short]);
  assert.equal(asked.code, 0, asked.stderr);
  const { prompt, system, chat: chats, responses } = JSON.parse(asked.stdout);
  assert.deepEqual(
    { prompt, system, chats, responsesLength: responses.length },
    { prompt: "hi", system: "Be brief.", chats: true, responsesLength: 1 },
  );
  assert.equal(responses[0].response, await greedy(chat(tokenizer, ["system", "Be brief."], ["user", "hi"])));
});

void test("--raw continues plain text; what is streamed is the whole answer", async () => {
  const raw = await gradus(["sample", join(place, "chat.gguf"), "--prompt", "The sum", "--raw", ...short]);
  assert.equal(raw.code, 0, raw.stderr);
  const answer = await greedy(tokenizer.encode("The sum"));
  assert.match(raw.stdout, /\n$/);
  assert.equal(raw.stdout.replace(/( …)?\n$/, ""), `The sum${answer}`);
  assert.notEqual(answer, await greedy(chat(tokenizer, ["user", "The sum"])));
});

void test("a Hugging Face folder answers as the GGUF file does; several prompts are several conversations", async () => {
  const words = ["--prompt", "hi", "--prompt", "return the sum", "--json", ...short];
  const [folder, file] = await Promise.all([
    gradus(["sample", join(place, "folder"), ...words]),
    gradus(["sample", join(place, "chat.gguf"), ...words]),
  ]);
  assert.equal(folder.code, 0, folder.stderr);
  const texts = (stdout: string): string[] =>
    stdout
      .trim()
      .split("\n")
      .map((line) => JSON.parse(line).responses[0].response);
  assert.deepEqual(texts(folder.stdout), texts(file.stdout));
  assert.equal(texts(file.stdout)[1], await greedy(chat(tokenizer, ["user", "return the sum"])));
});

void test("--system where nothing takes it is wrong usage; a file that is no model is named", async () => {
  const refused = await gradus(["sample", "test/fixtures/gguf/qwen2.gguf", "--prompt", "a", "--system", "b"]);
  assert.equal(refused.code, 2);
  assert.match(refused.stderr, /no chat template for --system/);
  const other = await gradus(["sample", "package.json", "--prompt", "a"]);
  assert.equal(other.code, 1);
  assert.match(other.stderr, /package\.json is not a checkpoint: it is a file/);
});

test("--trained and --base lend a smaller model's training; λ = 0 lends nothing, and one alone is refused", async () => {
  const words = ["sample", join(place, "chat.gguf"), "--raw", "--json", "--prompt", "Once", ...short];
  const response = async (...more: readonly string[]): Promise<string> => {
    const { code, stdout, stderr } = await gradus([...words, ...more], place);
    assert.equal(code, 0, stderr);
    return (JSON.parse(stdout) as { responses: [{ response: string }] }).responses[0].response;
  };
  const steer = ["--trained", join(place, "small"), "--base", join(place, "folder")];
  const small = Object.entries(initialWeights(shape, 9)).map(
    ([name, values]) =>
      [name, values.length === shape.width ? values : values.map((value) => value * 40)] as const,
  );
  writeHuggingFace(join(place, "small"), { shape, weights: Object.fromEntries(small), tokenizer });
  const plain = await response();
  assert.equal(await response(...steer, "--lambda", "0"), plain);
  // ℓ + (ℓ_small − ℓ) is the small model's own.
  const own = await gradus(["sample", join(place, "small"), ...words.slice(2)], place);
  const alone = (JSON.parse(own.stdout) as { responses: [{ response: string }] }).responses[0].response;
  assert.notEqual(alone, plain);
  assert.equal(await response(...steer), alone);
  const refused = await gradus([...words, "--base", join(place, "folder")], place);
  assert.equal(refused.code, 2);
  assert.match(refused.stderr, /--trained and --base belong together/);
});
