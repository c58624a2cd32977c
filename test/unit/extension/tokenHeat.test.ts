/** Token heat: buckets and scales, places of tokens in a document, what is coloured, underlined and said. */
import assert from "node:assert/strict";
import { test } from "node:test";
import {
  bucketOf,
  isOutlier,
  scaleOf,
  scaleText,
} from "../../../extension/features/rollouts/heat/buckets.ts";
import { heatOf, nextOf, outliersOf, unusedOf } from "../../../extension/features/rollouts/heat/layers.ts";
import { spansOf } from "../../../extension/features/rollouts/heat/spans.ts";
import { TokenMap, type Stretch } from "../../../extension/features/rollouts/heat/tokenMap.ts";
import { tokenMarkdown } from "../../../extension/features/rollouts/heat/tokenText.ts";
import { Writer, writeText } from "../../../extension/features/rollouts/writer.ts";
import { packed } from "../../../shared/rollouts/packed.ts";
import type { TokenChannel } from "../../../shared/rollouts/tokenChannels.ts";

test("a sequential scale is from its first percentile to its last, what is beyond is clipped; a signed one is even", () => {
  const entropy = scaleOf("entropy", 0, 3.3);
  assert.deepEqual(
    [-1, 0.1, 0.31, 3.2, 99, Number.NaN].map((value) => bucketOf(value, entropy)),
    [undefined, undefined, 1, 10, 10, undefined],
  );
  // The less probable a token is, the stronger its colour.
  assert.deepEqual(
    [-9, -4, 0].map((value) => bucketOf(value, scaleOf("logp", -4, 0))),
    [10, 10, undefined],
  );
  const ratio = scaleOf("ratio", -0.1, 0.5);
  assert.deepEqual([ratio.low, ratio.high], [-0.5, 0.5]);
  assert.deepEqual(
    [-2, -0.2, 0, 0.2, 0.5].map((value) => bucketOf(value, ratio)),
    [0, 3, undefined, 7, 10],
  );
});

test("outliers are at the ends that matter, and a channel that is one value has none", () => {
  assert.deepEqual(
    [-5, 0].map((value) => isOutlier(value, scaleOf("logp", -4, 0))),
    [true, false],
  );
  assert.deepEqual(
    [-5, 0, 5].map((value) => isOutlier(value, scaleOf("ratio", -4, 5))),
    [true, false, true],
  );
  const same = scaleOf("advantage", 0.5, 0.5);
  assert.ok(!isOutlier(0.5, same) && bucketOf(0.5, same) === 10);
  assert.equal(scaleText(scaleOf("entropy", 1e-12, 5.25)), "0 to 5.25");
  assert.equal(scaleText(scaleOf("entropy", 1, 1)), "1 everywhere");
});

/** A response of which every given text is one token. */
function mapOf(
  texts: readonly string[],
  changes: { origin?: number[]; mask?: number[]; values?: number[] } = {},
) {
  const response = texts.join("");
  const writer = new Writer();
  writer.write("head");
  const lines = writeText(writer, "  ", response);
  let at = 0;
  const ends = texts.map((text) => (at += text.length));
  const { origin = texts.map(() => 0), mask = texts.map(() => 1), values = texts.map((_, t) => t) } = changes;
  const channel: TokenChannel = "entropy";
  const map = new TokenMap(
    {
      total: texts.length,
      from: 0,
      to: texts.length,
      ids: packed(Int32Array.from(texts, (_, t) => t + 100)),
      starts: packed(Int32Array.from(ends, (end, t) => end - texts[t]!.length)),
      ends: packed(Int32Array.from(ends)),
      reason: null,
      origin: packed(Uint8Array.from(origin)),
      mask: packed(Uint8Array.from(mask)),
      channels: [
        { channel, values: packed(Float32Array.from(values)), low: 0, high: 10, count: texts.length },
      ],
    },
    lines,
  );
  const shown = (stretches: readonly Stretch[]): string[] =>
    stretches.map(({ line, from, to }) => writer.lines[line]!.slice(from, to));
  return { map, shown, response, lines: writer.lines };
}

test("a token is shown where it is, also over lines, with the marks of their ends; one without text is not", () => {
  const { map, shown } = mapOf(["one", " t", "wo\r\n\nth", "ree", "", "\n"]);
  assert.deepEqual(
    [0, 1, 2, 3, 4, 5].map((token) => shown(map.stretches(token))),
    [["one"], [" t"], ["wo⏎", "⏎", "th"], ["ree"], [], ["⏎"]],
  );
});

test("the tokens of a character: those that share it, and those after it that have no text", () => {
  const { map } = mapOf(["a", "bc", "", "d\n", "e"]);
  assert.deepEqual(map.at(1, 2), [0]);
  assert.deepEqual(map.at(1, 3), [1, 2]);
  assert.deepEqual(map.at(1, 4), [1, 2]);
  assert.deepEqual(map.at(1, 6), [3]);
  assert.deepEqual(map.at(2, 2), [4]);
  assert.deepEqual(map.at(0, 0), []);
  assert.deepEqual(map.at(1, 0), []);
});

test("the tokens of some lines are found without looking at the others", () => {
  const { map, shown } = mapOf(Array.from({ length: 1_000 }, (_, t) => `${t}\n`));
  const [from, to] = map.on(501, 510);
  assert.deepEqual([from, to], [500, 510]);
  assert.deepEqual(shown(map.stretches(from)), ["500⏎"]);
  assert.deepEqual(map.on(5_000, 5_001), [1_000, 1_000]);
  assert.equal(map.from(501, 0), 500);
});

test("neighbours of one colour are one stretch; what did not come from the policy has none, and is dimmed", () => {
  const { map, shown } = mapOf(["a", "b", "c", "d", "e"], {
    values: [10, 10, 0, 10, 10],
    origin: [0, 0, 0, 2, 1],
    mask: [1, 1, 0, 0, 0],
  });
  const entropy = map.channel("entropy")!;
  const buckets = heatOf(map, entropy, 0, 5);
  assert.deepEqual(shown(buckets[10]!), ["ab"]);
  assert.equal(buckets.flat().length, 1);
  const { observed, given, masked } = unusedOf(map, 0, 5);
  assert.deepEqual([observed, given, masked].map(shown), [["d"], ["e"], ["c"]]);
  const outliers = outliersOf(map, entropy);
  assert.deepEqual(outliers, [0, 1]);
  assert.deepEqual(
    [
      nextOf(outliers, -1, true),
      nextOf(outliers, 0, true),
      nextOf(outliers, 1, true),
      nextOf(outliers, 0, false),
    ],
    [0, 1, 0, 1],
  );
});

test("a term that scores tokens or steps has spans; nothing, turns and zeros have none", () => {
  const spans = spansOf({
    steps: [
      [0, 2],
      [2, 5],
    ],
    rewards: {
      plain: 1,
      none: null,
      tone: { level: "token", values: [0, 0.5, 0.5, null, -1] },
      steps: { level: "step", values: [0.25, null] },
      turns: { level: "turn", values: [1] },
    },
  });
  assert.deepEqual(spans, [
    { term: "steps", from: 0, to: 2, value: 0.25, what: "step 1" },
    { term: "tone", from: 1, to: 3, value: 0.5, what: "each of these 2 tokens" },
    { term: "tone", from: 4, to: 5, value: -1, what: "this token" },
  ]);
});

test("a token's hover has its id, its text, who wrote it, all channels, and what a term gave", () => {
  const { map, response } = mapOf(["a`b", "", "c"], { values: [10, Number.NaN, 1] });
  const spans = spansOf({ rewards: { tone: { level: "token", values: [0.5, null, null] } } });
  const text = tokenMarkdown(map, map.at(1, 3), response, spans);
  assert.match(text, /^`"aˋb"` · token 1 of 3 tokens · id 100 · generated, trains\n\nno text · token 2 of 3/);
  assert.match(text, /\| entropy \| \*\*10\*\* \| – \| 0 to 10 \|/);
  assert.match(text, /`tone` gave this token 0\.500\.$/);
});

test("65,000 tokens are coloured", () => {
  const texts = Array.from({ length: 65_000 }, (_, t) => (t % 20 === 19 ? "\n" : `w${t} `));
  const { map } = mapOf(texts, { values: texts.map((_, t) => t % 11) });
  const entropy = map.channel("entropy")!;
  outliersOf(map, entropy);
  const layers = heatOf(map, entropy, 0, texts.length);
  assert.ok(layers.flat().length > 10_000);
});
