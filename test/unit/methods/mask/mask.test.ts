import assert from "node:assert/strict";
import { describe, it } from "node:test";
import { MaskChain } from "../../../../server/algorithm/loss/masks.ts";
import type { Declaration, Choice } from "../../../../server/core/declaration.ts";
import { given } from "../../../../server/methods/mask/given.ts";
import { masks } from "../../../../server/methods/mask/index.ts";
import { offPolicySequence } from "../../../../server/methods/mask/offPolicySequence.ts";
import { overlong } from "../../../../server/methods/mask/overlong.ts";
import { rollIn } from "../../../../server/methods/mask/rollIn.ts";
import { section } from "../../../../server/methods/mask/section.ts";
import { sources } from "../../../../server/methods/mask/sources.ts";
import { spans } from "../../../../server/methods/mask/spans.ts";
import { stale } from "../../../../server/methods/mask/stale.ts";
import { quantile, topEntropy } from "../../../../server/methods/mask/topEntropy.ts";
import { turns } from "../../../../server/methods/mask/turns.ts";
import { tokensOf } from "../../../../server/core/rows/tokenTexts.ts";
import type { Batch } from "../../../../server/core/rollouts.ts";
import type { Tokenizer } from "../../../../server/core/policy.ts";
import type { BatchMask, LossMask } from "../../../../server/core/loss.ts";
import { batchOf, type RowSpec } from "../../../support/batch.ts";
import { randomStream } from "../../../../server/lib/random.ts";
import { configOf, context, made, near } from "../../support.ts";

/** A token is its place in this list. */
const words = ["a", "b", "<think>", "</think>", "ab", "", "x=", "1"];
const tokenizer: Tokenizer = {
  size: words.length,
  eos: 5,
  pad: 5,
  encode: () => new Int32Array(),
  decode: (tokens) => Array.from(tokens, (token) => words[token]).join(""),
};
const says = (tokens: readonly number[], more: Partial<RowSpec> = {}): RowSpec => ({
  tokens,
  context: [0],
  ...more,
});
const keeps = (mask: BatchMask | LossMask, batch: Batch): number[] => {
  assert.ok(typeof mask === "function");
  return [...mask(batch, {})];
};
const ofLoss = (mask: BatchMask | LossMask): LossMask => {
  assert.ok(typeof mask !== "function");
  return mask;
};
const choice = (declaration: Declaration<"mask">, params: object = {}): Choice<"mask"> => ({
  use: declaration.name,
  declaration,
  params: declaration.params.parse(params),
  folder: ".",
});

describe("masks of the batch", () => {
  it("thought and action are the two sides of a section", () => {
    const batch = batchOf([says([0, 2, 4, 3, 1, 5])]);
    const thought = made(section, {}, { tokenizer });
    const action = made(section, { keep: "outside" }, { tokenizer });
    assert.deepEqual(keeps(thought, batch), [0, 1, 1, 1, 0, 0]);
    assert.deepEqual(keeps(action, batch), [1, 0, 0, 0, 1, 1]);
    assert.deepEqual(keeps(made(section, { tags: false }, { tokenizer }), batch), [0, 0, 1, 0, 0, 0]);
  });
  it("a section that is not closed goes to the end, and one that the prompt opened begins at once", () => {
    assert.deepEqual(keeps(made(section, {}, { tokenizer }), batchOf([says([0, 2, 1])])), [0, 1, 1]);
    assert.deepEqual(
      keeps(made(section, { begun: true }, { tokenizer }), batchOf([says([0, 3, 1, 2, 1, 3])])),
      [1, 1, 0, 1, 1, 1],
    );
  });
  it("a token that shares a character with a span belongs to it", () => {
    assert.deepEqual(tokensOf({ text: "aabb", starts: Int32Array.of(0, 1, 3, 3, 4) }, 2, 3), [1, 2]);
    assert.deepEqual(tokensOf({ text: "aabb", starts: Int32Array.of(0, 1, 3, 3, 4) }, 2, 4), [1, 4]);
    assert.deepEqual(tokensOf({ text: "", starts: Int32Array.of(0) }, 0, 1), [0, 0]);
  });
  it("user spans come from the record or from a pattern's first group", () => {
    const batch = batchOf([says([6, 7, 0], { record: { spans: { mine: [[1, 3]] } } }), says([0, 0])]);
    assert.deepEqual(keeps(made(spans, { name: "mine" }), batch), [0, 1, 1, 1, 1]);
    assert.deepEqual(keeps(made(spans, { name: "mine", missing: "drop" }), batch), [0, 1, 1, 0, 0]);
    assert.deepEqual(
      keeps(made(spans, { name: "mine", keep: "outside", missing: "drop" }), batch),
      [1, 0, 0, 0, 0],
    );
    assert.deepEqual(keeps(made(spans, { regex: "x=(\\d)" }, { tokenizer }), batch), [0, 1, 0, 1, 1]);
    assert.throws(() => keeps(made(spans, { name: "mine", missing: "error" }), batch), /has no span mine/);
    assert.throws(() => made(spans, {}), /either `name` \(recorded spans\) or `regex`/);
    assert.throws(() => made(spans, { regex: "(" }), /must be a regular expression/);
  });
  it("without a tokenizer characters are tokens, or the user gets a message", () => {
    const read = made(spans, { regex: "b" });
    assert.deepEqual(keeps(read, batchOf([says([9, 9, 5], { record: { response: "ab" } })])), [0, 1, 0]);
    assert.throws(
      () => keeps(read, batchOf([says([9], { record: { response: "abc" } })])),
      /1 tokens for 3 characters/,
    );
  });
  it("turns, roll-ins, truncation, origins and age", () => {
    const talk = says([0, 0, 0, 0], {
      record: {
        turns: [
          { role: "assistant", start: 0, end: 1 },
          { role: "tool", start: 1, end: 2 },
          { role: "assistant", agent: "b", start: 2, end: 4 },
        ],
      },
    });
    assert.deepEqual(
      keeps(made(turns, { roles: ["assistant"], which: "last" }), batchOf([talk])),
      [0, 0, 1, 1],
    );
    assert.deepEqual(keeps(made(turns, { agents: ["b"] }), batchOf([talk, says([0])])), [0, 0, 1, 1, 1]);
    const branch = says([0, 0, 0], { record: { parent: { index: 0, token: 2 } } });
    const guided = says([0, 0, 0], { origin: [1, 0, 0] });
    assert.deepEqual(keeps(made(rollIn, {}), batchOf([branch, guided])), [0, 0, 1, 0, 1, 1]);
    assert.deepEqual(keeps(made(rollIn, { keep: "before" }), batchOf([branch])), [1, 1, 0]);
    const cut = batchOf([
      says([0], { record: { finish: "length" } }),
      says([0], { record: { source: "replay" } }),
    ]);
    assert.deepEqual(keeps(made(overlong, {}), cut), [0, 1]);
    assert.deepEqual(keeps(made(sources, { keep: ["self"] }), cut), [1, 0]);
    const old = batchOf([says([0, 0, 0])], { versions: Int32Array.of(1, 3, -1) }, { version: 4 });
    assert.deepEqual(keeps(made(stale, { max_lag: 1 }), old), [0, 1, 1]);
  });
  it("prefilled tokens train when the config says so, observed ones never", () => {
    const batch = batchOf([says([0, 0, 0], { origin: [1, 2, 0] })]);
    assert.deepEqual(keeps(made(given, {}), batch), [1, 0, 1]);
    assert.deepEqual(keeps(made(given, { train: "only" }), batch), [1, 0, 0]);
    const everything = { ...batch, mask: new Uint8Array(3).fill(1) };
    assert.deepEqual([...new MaskChain([], context).masked(everything, {}).mask], [1, 0, 1]);
  });
});

describe("masks of the loss", () => {
  const input = (
    batch: Batch,
    more: Partial<Parameters<LossMask["keep"]>[0]>,
  ): Parameters<LossMask["keep"]>[0] => ({
    batch,
    now: {},
    old: {},
    advantages: new Float64Array(batch.tokens.length).fill(1),
    weights: Float64Array.from(batch.mask),
    ...more,
  });
  it("the quantile is torch's, and ties with it stay", () => {
    const values = (): Float64Array => Float64Array.of(3, 0, 4, 1, 2);
    assert.equal(quantile(values(), 0.8), 3.2);
    assert.equal(quantile(values(), 0.5), 2);
    assert.deepEqual([quantile(values(), 0), quantile(values(), 1)], [0, 4]);
    const random = randomStream(3, "quantile");
    for (let size = 1; size < 60; size++) {
      const drawn = Float64Array.from({ length: size }, () => random.integer(9));
      const sorted = drawn.slice().sort();
      const at = random.next() * (size - 1);
      const [low, high] = [sorted[Math.floor(at)]!, sorted[Math.ceil(at)]!];
      const expected = low + (high - low) * (at - Math.floor(at));
      assert.ok(near(quantile(drawn, size === 1 ? 0.5 : at / (size - 1)), expected, 1e-9));
    }
    assert.equal(quantile(Float64Array.of(7), 0.3), 7);
  });
  it("keeps the tokens of highest entropy over the whole step, masked tokens apart", () => {
    const batch = batchOf([says([0, 0, 0], { origin: [0, 0, 2] }), says([0, 0, 0])]);
    const entropy = Float64Array.of(1, 5, 99, 2, 3, 4);
    const mask = ofLoss(made(topEntropy, { share: 0.25 }));
    assert.deepEqual(mask.channels, ["entropy"]);
    assert.deepEqual([...mask.keep(input(batch, { now: { entropy } }))], [0, 1, 1, 0, 0, 1]);
    assert.throws(() => mask.keep(input(batch, {})), /needs the entropy/);
  });
  it("drops negative advantages of rollouts that drifted, and takes tokens that were not scored as no evidence", () => {
    const batch = batchOf([says([0, 0]), says([0, 0]), says([0, 0])]);
    const mask = ofLoss(made(offPolicySequence, { threshold: 0.5 }));
    const now = { logp: Float64Array.of(-2, -2, -2, -2, -1, -1) };
    const old = { logp: Float64Array.of(-1, -1, -1, Number.NaN, -1, -1) };
    const advantages = Float64Array.of(-1, 1, -1, -1, -1, -1);
    assert.deepEqual([...mask.keep(input(batch, { now, old, advantages }))], [0, 1, 1, 1, 1, 1]);
  });
  it("the normaliser counts what it is set to, and reports say who took a token", () => {
    const batch = batchOf([says([0, 0]), says([0, 0], { record: { finish: "length" } })]);
    const entropy = Float64Array.of(0, 1, 2, 3);
    const chain = (normaliser: string): MaskChain =>
      new MaskChain([choice(overlong), choice(topEntropy, { share: 0.5, normaliser })], context);
    assert.deepEqual(chain("all").takenFrom(batch, {}), { "mask: overlong": Uint8Array.of(0, 0, 1, 1) });
    const all = chain("all").ofTheLoss(input(batch, { now: { entropy } }));
    assert.deepEqual([...all.weights], [1, 1, 1, 1]);
    assert.deepEqual([...all.kept!], [0, 0, 1, 1]);
    const kept = chain("kept").ofTheLoss(input(batch, { now: { entropy } }));
    assert.deepEqual([...kept.weights], [0, 0, 1, 1]);
    assert.equal(kept.kept, undefined);
    assert.deepEqual([...kept.touched["mask: top_entropy"]!], [1, 1, 0, 0]);
  });
});

it("a config can list every mask", () => {
  const list = masks
    .map(({ name }) =>
      name === "sources"
        ? "{ use: sources, keep: [self] }"
        : name === "stale"
          ? "{ use: stale, max_lag: 1 }"
          : name === "spans"
            ? "{ use: spans, name: mine }"
            : name,
    )
    .join(", ");
  const config = configOf(
    `tasks: [{ env: countdown }]\nreward: { terms: { correct: equation } }\nmask: [${list}]\n`,
  );
  assert.equal(config.top.mask.length, masks.length);
});
