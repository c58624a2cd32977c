/** Rewards that look at a response's text, against values of the published implementations (test/fixtures/rewards). */
import assert from "node:assert/strict";
import { readFileSync } from "node:fs";
import { join } from "node:path";
import { test } from "node:test";
import { diffsOf } from "../../../../server/methods/reward/text/edits.ts";
import { similarity } from "../../../../server/methods/reward/text/matching.ts";
import { overlaps, type Overlap } from "../../../../server/methods/reward/text/overlap.ts";
import { patchSimilarity } from "../../../../server/methods/reward/text/patchSimilarity.ts";
import { phrases } from "../../../../server/methods/reward/text/phrases.ts";
import { repeated, repeatedShare, repetition } from "../../../../server/methods/reward/text/repetition.ts";
import { textOverlap } from "../../../../server/methods/reward/text/textOverlap.ts";
import { unifiedDiff } from "../../../../server/methods/reward/text/unifiedDiff.ts";
import type { RolloutRow } from "../../../../shared/rollouts/rollouts.ts";
import type { RewardTerm } from "../../../../server/core/reward.ts";
import { made, near } from "../../support.ts";
import { rowOf, saidBy } from "./support.ts";

interface Fixture {
  readonly overlap: readonly (Record<Overlap, number> & {
    readonly hypothesis: string;
    readonly reference: string;
  })[];
  readonly ratio: readonly { readonly a: string; readonly b: string; readonly ratio: number }[];
  readonly diff: readonly { readonly before: string; readonly after: string; readonly diff: string }[];
  readonly patch: readonly { readonly response: string; readonly reward: number }[];
  readonly files: Record<string, string>;
  readonly oracle: Record<string, string>;
  readonly unidiff: {
    readonly oracle: string;
    readonly cases: readonly { readonly response: string; readonly reward: number }[];
  };
}
const known = JSON.parse(
  readFileSync(join("test", "fixtures", "rewards", "textRewards.json"), "utf8"),
) as Fixture;

test("chrF, BLEU, ROUGE-L, F1 and exact match are those of sacreBLEU, rouge-score and SQuAD", () => {
  for (const { hypothesis, reference, ...values } of known.overlap)
    for (const [metric, wanted] of Object.entries(values)) {
      const found = overlaps[metric as Overlap](hypothesis, reference);
      assert.ok(
        near(found, wanted, 1e-9),
        `${metric} of ${JSON.stringify(hypothesis)} and ${JSON.stringify(reference)}: ${found}, not ${wanted}`,
      );
    }
});

test("the ratio of Ratcliff and Obershelp is difflib's; of abcd and bcde it is 0.75", () => {
  assert.equal(similarity("abcd", "bcde"), 0.75);
  for (const { a, b, ratio } of known.ratio) assert.ok(near(similarity(a, b), ratio), JSON.stringify([a, b]));
});

test("a unified diff is difflib's", () => {
  for (const { before, after, diff } of known.diff) assert.equal(unifiedDiff(before, after), diff);
});

const withData = (response: string, data: Record<string, string | Record<string, string>>): RolloutRow =>
  rowOf(response, { task: { data } });

test("patch_similarity is SWE-RL's reward of search/replace blocks", async () => {
  const { files, oracle } = known;
  const rows = known.patch.map(({ response }) => withData(response, { files, oracle }));
  const scores = await saidBy(made(patchSimilarity, {}), rows);
  known.patch.forEach(({ reward, response }, i) =>
    assert.ok(near(scores[i] as number, reward), `${response}: ${scores[i]}, not ${reward}`),
  );
  assert.match(String((await saidBy(made(patchSimilarity, {}), [rowOf("x")]))[0]), /field `files`/);
});

test("patch_similarity is SWE-RL's reward of unified diffs, and -1 for what is none", async () => {
  const { oracle, cases } = known.unidiff;
  const term = made(patchSimilarity, { edits: "unified_diff", tags: null });
  const rows = cases.map(({ response }) => withData(response, { oracle }));
  const scores = await saidBy(term, rows);
  cases.forEach(({ reward }, i) => assert.ok(near(scores[i] as number, reward), `${i}: ${scores[i]}`));
  const cut = oracle.split("\n").slice(0, -2).join("\n");
  assert.deepEqual(
    await saidBy(
      term,
      ["no diff", cut].map((text) => withData(text, { oracle })),
    ),
    [-1, -1],
  );
  assert.equal(diffsOf(new Map([["a", "x"]]), new Map([["a", "x"]])).size, 0);
});

test("repetition: every token of a run that came before has the penalty, and no other", async () => {
  assert.deepEqual([...repeated([1, 2, 1, 2, 3], 2)], [2, 3]);
  assert.deepEqual([...repeated([1, 1, 1, 1], 2)], [1, 2, 3]);
  assert.deepEqual([...repeated([1, 2, 3], 40)], []);
  assert.ok(near(repeatedShare("a b a b".split(" "), 2), 1 / 3));
  const row = rowOf("ababc", { tokens: [5, 6, 5, 6, 7] });
  assert.deepEqual(await saidBy(made(repetition, { n: 2 }), [row]), [[0, 0, -0.05, -0.05, 0]]);
  const term: RewardTerm = made(repetition, { n: 2, level: "response", penalty: -3 });
  assert.deepEqual(await saidBy(term, [rowOf("a b A b"), rowOf("a")]), [-1, 0]);
});

test("phrases: a share of 20, less repeated runs of words and stray turns, and at least 0", async () => {
  const term = made(phrases, {});
  const many = "I need to wait. Alternatively, let me check: thus, therefore, hence, so that if we";
  const run = Array.from({ length: 40 }, (_, i) => `w${i % 20}`).join(" ");
  const scores = await saidBy(term, [
    rowOf("no such words"),
    rowOf(many),
    rowOf(`wait ${run}`),
    rowOf(`${many} user: `),
  ]);
  assert.deepEqual(scores[0], 0);
  assert.ok(near(scores[1] as number, 9 / 20), String(scores[1]));
  // Of 22 runs of 20 words, one kind occurs twice: 1/20 − 1/22.
  assert.ok(near(scores[2] as number, 1 / 20 - 1 / 22), String(scores[2]));
  assert.equal(scores[3], 0);
});

test("text_overlap takes the nearest reference, and the last pair of a tag", async () => {
  const row = (response: string): RolloutRow =>
    rowOf(response, { task: { answer: "x", data: { names: ["Paris", "the City of Light"] } } });
  const em = made(textOverlap, { metric: "em", field: "names", tag: "answer" });
  assert.deepEqual(
    await saidBy(
      em,
      ["<answer>Rome</answer><answer> city of light.</answer>", "<answer>paris</answer>", "Paris"].map(row),
    ),
    [1, 1, 0],
  );
  const term = made(textOverlap, { metric: "f1" });
  assert.deepEqual(await saidBy(term, [row("x"), row("y")]), [1, 0]);
  assert.match(String((await saidBy(term, [rowOf("x")]))[0]), /needs an answer/);
});
