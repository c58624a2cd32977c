/** The real model, where it has been fetched: node scripts/getSmolLm2.mjs (or $GRADUS_SMOLLM2 names the file). */
import assert from "node:assert/strict";
import { existsSync, readFileSync } from "node:fs";
import { join } from "node:path";
import test from "node:test";
import { z } from "zod";
import { dataFolder } from "../../../server/lib/natives.ts";
import { readGgufHead } from "../../../server/engine/formats/gguf/index.ts";
import { batchOf, collect, open, tinyModel } from "./support.ts";

const file = process.env["GRADUS_SMOLLM2"] ?? join(dataFolder(), "models", "SmolLM2-135M-Instruct.Q4_1.gguf");
const skip = existsSync(file) ? false : "the model is not here: node scripts/getSmolLm2.mjs fetches it";

const folder = "test/fixtures";
/** Made by transformers: see generate.py next to it. */
const expected = z
  .object({
    ids: z.array(z.array(z.int())),
    texts: z.array(z.string()),
    tokens: z.array(z.int()),
    logits: z.array(z.number()),
    logsumexp: z.array(z.number()),
    top: z.object({ tokens: z.array(z.int()), logits: z.array(z.number()) }),
    chat: z.string(),
    answer: z.object({ tokens: z.array(z.int()), text: z.string() }),
  })
  .parse(JSON.parse(readFileSync(`${folder}/smollm2/smollm2.json`, "utf8")));
const { corpus } = z
  .object({ corpus: z.array(z.string()) })
  .parse(JSON.parse(readFileSync(`${folder}/tokenizers/tokenizers.json`, "utf8")));

const question = [{ role: "user", content: "What is the capital of France?" }];

void test("SmolLM2: ids and texts of the corpus are those of transformers", { skip }, () => {
  const { tokenizer } = readGgufHead(file);
  corpus.forEach((text, index) => {
    assert.deepEqual([...tokenizer.encode(text)], expected.ids[index], JSON.stringify(text));
    assert.equal(tokenizer.decode(expected.ids[index]!), expected.texts[index]);
  });
  assert.equal(tokenizer.chat(question), expected.chat);
});

void test("SmolLM2: logits and the greedy answer are those of transformers", { skip }, async () => {
  const policy = await open({ model: { ...tinyModel(), base: file } });
  try {
    const { tokens, logits, logsumexp, top } = expected;
    const whole = { context: tokens.slice(0, 1), tokens: tokens.slice(1) };
    const last = top.tokens.map((token) => ({ context: tokens, tokens: [token] }));
    const stats = await policy.score(batchOf([whole, ...last]), {
      model: "policy",
      channels: ["logp", "logsumexp"],
    });
    const near = (found: number, wanted: number): void =>
      assert.ok(Math.abs(found - wanted) < 1e-3, `${found} ≠ ${wanted}`);
    [...logits, ...top.logits].forEach((logit, i) => {
      near(stats.logsumexp![i]!, logsumexp[Math.min(i, tokens.length - 1)]!);
      near(stats.logp![i]! + stats.logsumexp![i]!, logit);
    });
    const { tokenizer } = policy;
    const prompt = { tokens: tokenizer.encode(tokenizer.chat(question)!), key: ["question"] };
    const [answer] = await collect(policy, [prompt], { temperature: 0, max_tokens: 24 });
    assert.deepEqual([...answer!.tokens], expected.answer.tokens);
    assert.equal(answer!.finish, "stop");
    assert.equal(tokenizer.decode(answer!.tokens), expected.answer.text);
  } finally {
    policy.close();
  }
});
