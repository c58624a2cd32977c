/** Tokens of a rollout: where each is in the response, and its channels. */
import assert from "node:assert/strict";
import { readFileSync } from "node:fs";
import test from "node:test";
import { z } from "zod";
import { channelsOf } from "../../../server/analysis/tokens/channels.ts";
import { characterPlaces, placesOf } from "../../../server/analysis/tokens/places.ts";
import { CharacterTokenizer } from "../../../server/engine/tokenizers/characters.ts";
import { HuggingFaceTokenizer } from "../../../server/engine/tokenizers/index.ts";
import { nthSmallest } from "../../../server/lib/nthSmallest.ts";
import { packed, unpackedFloat32, unpackedInt32, unpackedUint8 } from "../../../shared/rollouts/packed.ts";

const kinds = z
  .object({
    kinds: z.array(
      z.object({
        name: z.string(),
        tokenizer: z.record(z.string(), z.json()),
        ids: z.array(z.array(z.int())),
      }),
    ),
  })
  .parse(JSON.parse(readFileSync("test/fixtures/tokenizers/tokenizers.json", "utf8"))).kinds;
const opened = (tokenizer: (typeof kinds)[number]["tokenizer"]): HuggingFaceTokenizer =>
  new HuggingFaceTokenizer({
    tokenizer,
    config: { bos_token: "<s>", eos_token: { content: "</s>" }, pad_token: "<pad>" },
    name: "test",
    file: "tokenizer.json",
  });

const shown = (response: string, tokens: Int32Array, tokenizer: Parameters<typeof placesOf>[2]): string[] => {
  const places = placesOf(tokens, { response }, tokenizer);
  assert.ok(places !== undefined);
  return [...tokens].map((_, t) => response.slice(places.starts[t], places.ends[t]));
};

test("tokens of every kind of tokenizer cover the response in order, and those of one character share it", () => {
  let shared = 0;
  for (const { name, tokenizer, ids } of kinds) {
    const made = opened(tokenizer);
    for (const list of ids) {
      const tokens = Int32Array.from(list);
      const response = made.decode(tokens);
      const places = placesOf(tokens, { response }, made);
      assert.ok(places !== undefined, `${name}: ${JSON.stringify(response)}`);
      let at = 0;
      for (let t = 0; t < tokens.length; t++) {
        const [start, end] = [places.starts[t]!, places.ends[t]!];
        const isShared = t > 0 && start === places.starts[t - 1] && end === places.ends[t - 1] && end > start;
        if (isShared) shared += 1;
        assert.ok(start === at || isShared, `${name} token ${t} of ${JSON.stringify(response)}`);
        assert.ok(end >= start);
        at = end;
      }
      assert.equal(at, response.length, `${name}: ${JSON.stringify(response)}`);
    }
  }
  assert.ok(shared > 0);
});

const characters = new CharacterTokenizer();

test("what ends a response, and what a template puts around a turn, has no text of its own", () => {
  const tokens = Int32Array.from([...characters.encode("3+5"), characters.eos]);
  assert.deepEqual(shown("3+5", tokens, characters), ["3", "+", "5", ""]);
  const turns = [
    { role: "assistant", start: 0, end: 3, text: "ask" },
    { role: "user", start: 3, end: 13, text: "no" },
    { role: "assistant", start: 13, end: 15, text: "ok" },
  ];
  const said = characters.encode("ask\nuser: no\nok");
  const places = placesOf(said, { response: "ask\nno\nok", turns }, characters)!;
  const texts = [...said].map((_, t) => "ask\nno\nok".slice(places.starts[t], places.ends[t]));
  assert.deepEqual(
    [...said].map((_, t) => places.starts[t]!).filter((_, t) => texts[t] !== ""),
    [0, 1, 2, 4, 5, 7, 8],
  );
});

test("a response that is not what the tokens say has no places; one that differs a little has most", () => {
  assert.equal(
    placesOf(characters.encode("something else"), { response: "3 + 5 is eight" }, characters),
    undefined,
  );
  const response = "the answer, of course, is 4";
  const tokens = characters.encode("the answer, of course; is 4");
  assert.equal(shown(response, tokens, characters).join(""), "the answer, of courseis 4");
});

test("without a tokenizer a token is a character, or there are no places", () => {
  assert.deepEqual(characterPlaces(3, "a😀")?.ends, Int32Array.of(1, 3, 3));
  assert.equal(characterPlaces(7, "a😀"), undefined);
});

test("channels are of what the policy generated, with their percentiles; a log without a column lacks the channel", () => {
  const origin = Uint8Array.of(0, 0, 0, 2, 1);
  const channels = channelsOf({
    origin,
    logp_old: Float32Array.of(-1, -2, Number.NaN, -50, -60),
    logp_proximal: Float32Array.of(-1, -2.5, Number.NaN, -50, -60),
    logp_new: Float32Array.of(-0.5, -3, Number.NaN, 0, 0),
  });
  assert.deepEqual(
    channels.map(({ channel, low, high, count }) => ({ channel, low, high, count })),
    [
      { channel: "logp", low: -2, high: -1, count: 2 },
      { channel: "trainer_logp", low: -2.5, high: -1, count: 2 },
      { channel: "ratio", low: -0.5, high: 0.5, count: 2 },
      { channel: "mismatch", low: -0.5, high: 0, count: 2 },
    ],
  );
});

test("packed numbers come back as they were", () => {
  const part = Float32Array.of(0, 1.5, Number.NaN, Number.NEGATIVE_INFINITY).subarray(1);
  assert.deepEqual(unpackedFloat32(packed(part)), Float32Array.from(part));
  assert.deepEqual(unpackedInt32(packed(Int32Array.of(-1, 1 << 30))), Int32Array.of(-1, 1 << 30));
  assert.deepEqual(unpackedUint8(packed(Uint8Array.of(0, 255))), Uint8Array.of(0, 255));
});

test("the value at a place of the order is that of the sorted values", () => {
  let state = 7;
  for (const spread of [1, 3, 1e6])
    for (const length of [1, 2, 50, 501]) {
      const values = Float32Array.from({ length }, () => {
        state = (Math.imul(state, 1664525) + 1013904223) >>> 0;
        return (state % (2 * spread)) - spread;
      });
      const sorted = values.toSorted();
      for (const place of new Set([0, length >> 1, length - 1, Math.round((length - 1) * 0.99)]))
        assert.equal(nthSmallest(values.slice(), place), sorted[place]);
    }
});
