/** Rewards of steps: transforms, heads, judges, both directions; labels from continuations, and a head that learns them. */
import assert from "node:assert/strict";
import { test } from "node:test";
import type { Level } from "../../../../server/core/basics.ts";
import { origin, type Batch } from "../../../../server/core/rollouts.ts";
import { status, type RewardContext, type Rewards } from "../../../../server/core/reward.ts";
import type { TermValue } from "../../../../server/core/slots/reward.ts";
import { tokenRewriter } from "../../../../server/methods/reward/models/tokenRewriter.ts";
import { prefixValue } from "../../../../server/methods/reward/process/prefixValue.ts";
import { process } from "../../../../server/methods/reward/process/process.ts";
import { transformed } from "../../../../server/methods/reward/process/transforms.ts";
import { batchOf } from "../../../support/batch.ts";
import { chatServer } from "../../../support/chatServer.ts";
import { FakeModels, fakeTokenizer } from "../../../support/fakePolicy.ts";
import { made, near } from "../../support.ts";
import { plain } from "./support.ts";

const prm = [0.9, 0.8, 0.95, 0.2, 0.7];
const close = (found: readonly number[], wanted: readonly number[]): void => {
  assert.equal(found.length, wanted.length);
  wanted.forEach((one, i) => assert.ok(near(found[i], one, 1e-9), `${i}: ${found[i]}, not ${one}`));
};

test("clip and delta: the check values, and returns that telescope to the score", () => {
  const options = { eta: 0.8, answer_step: false };
  close(transformed(prm, ["clip"], options), [0, 0, 0, -0.6, -0.1]);
  close(transformed(prm, ["delta"], { ...options, answer_step: true }), [0.1, -0.15, 0.75, 0.2, 0]);
  const delta = transformed(prm, ["delta"], options);
  close(delta, [0.1, -0.15, 0.75, -0.5, 0.7]);
  close(
    delta.map((_, k) => delta.slice(k).reduce((sum, one) => sum + one, 0)),
    prm,
  );
  close(transformed(prm, ["clip", "delta"], options), [0, 0, 0.6, -0.5, -0.1]);
  close(transformed(prm, ["last"], options), [0, 0, 0, 0, 0.7]);
  close(transformed(prm, ["thoughts"], { ...options, eta: 0.5 }), [0, 0, 2.65 / 3, 0.2, 0.7]);
  // A step that is repeated earns nothing more: the sum is the first score.
  const padded = transformed([0.9, 0.9, 0.9, ...prm], ["delta"], options);
  assert.ok(
    near(
      padded.reduce((sum, one) => sum + one, 0),
      0.9,
    ),
  );
});

const steps = [
  [0, 2],
  [2, 3],
  [3, 5],
] as const;
const stepped = batchOf([
  { context: [1], tokens: [2, 3, 4, 5, 6], record: { steps, response: "bcdef" } },
  { context: [1], tokens: [7, 8] },
]);
const contextOf = (models: FakeModels, more: Partial<RewardContext> = {}): RewardContext => ({
  models,
  tokenizer: fakeTokenizer,
  clock: { step: 0, stageStep: 0 },
  ...more,
});
const scoresOf = async (
  params: Parameters<typeof process.params.parse>[0],
  models: FakeModels,
): Promise<ReturnType<typeof plain>[]> =>
  (
    await process
      .create(process.params.parse(params), { folder: ".", random: never, max_tokens: 8, group: 2 })
      .score(stepped, contextOf(models))
  ).map(plain);
const never = { next: () => 0, integer: () => 0, fork: () => never };

test("a head scores each step at its last token; in both directions, the mean of both readings", async () => {
  const models = new FakeModels({ models: ["prm"], heads: ["reward"] });
  const head = models.of("prm").heads.get("reward")!;
  // The toy's value at a token is of the token before it.
  const [first, whole] = await scoresOf({ model: "prm" }, models);
  close(first as number[], [head[2]!, head[3]!, head[5]!]);
  assert.equal(whole, head[7]);
  const [both] = await scoresOf({ model: "prm", bidirectional: true }, models);
  // In reverse: 5 6 | 4 | 2 3.
  close(both as number[], [(head[2]! + head[2]!) / 2, (head[3]! + head[6]!) / 2, (head[5]! + head[5]!) / 2]);
  const [squashed] = await scoresOf({ model: "prm", squash: "sigmoid", transform: ["last"] }, models);
  close(squashed as number[], [0, 0, 1 / (1 + Math.exp(-head[5]!))]);
});

test("a judge reads the response up to each step, or from each step back", async () => {
  const server = await chatServer((text) => `Score: ${/Reasoning so far: (.*)/.exec(text)![1]!.length}`);
  try {
    const judge = { url: server.url, model: "any" };
    const models = new FakeModels();
    const [forward, whole] = await scoresOf({ judge, to_unit: false }, models);
    assert.deepEqual([forward, whole], [[2, 3, 5], 2]);
    const [both] = await scoresOf({ judge, to_unit: false, bidirectional: true }, models);
    assert.deepEqual(both, [3.5, 3, 3.5]);
    const [over] = await scoresOf({ judge, high: 4 }, models);
    assert.match(String(over), /score 5 is not from 0 to 4/);
  } finally {
    await server.close();
  }
});

test("process without a model and without a judge is refused", () => {
  assert.throws(() => made(process, {}), /neither a `model` nor a `judge`/);
});

const column = (
  level: Level,
  values: readonly number[],
  offsets: readonly number[],
): Rewards["terms"][number] => ({
  ...{ name: "labels", level, values: Float64Array.from(values), offsets: Int32Array.from(offsets) },
  ...{ status: new Uint8Array(offsets.length - 1).fill(status.value), errors: new Map() },
});

test("a head learns labels of steps: by regression, or as a probability", async () => {
  for (const squash of ["none", "sigmoid"] as const) {
    const models = new FakeModels({ models: ["prm"], heads: ["reward"], lr: squash === "none" ? 1 : 4 });
    const term = made(process, { model: "prm", squash, update: "online", from: "labels" });
    const rewards: Rewards = { terms: [column("step", [1, 0, 1, 0], [0, 3, 4])], weights: [0] };
    const losses: number[] = [];
    for (let i = 0; i < 80; i++)
      for (const learner of term.learners ?? [])
        losses.push((await learner.train(models, stepped, rewards, { step: 0, stageStep: 0 }))["loss"]!);
    assert.ok(losses.at(-1)! < losses[0]! / 3, losses.join(" "));
    const [first, whole] = (await term.score(stepped, contextOf(models))).map(plain);
    (first as number[]).forEach((score, k) =>
      assert.ok(Math.abs(score - [1, 0, 1][k]!) < 0.25, String(score)),
    );
    assert.ok((whole as number) < 0.25);
  }
});

/** Scores continuations by how many tokens were given to them. */
const solvableBelow =
  (bound: number, batches: Batch[] = []) =>
  (_: string | undefined, batch: Batch): Promise<readonly TermValue[]> => {
    batches.push(batch);
    return Promise.resolve(
      batch.records.map((record, row): TermValue => {
        const own = batch.origin.subarray(batch.offsets[row], batch.offsets[row + 1]);
        const given = own.filter((kind) => kind === origin.given).length;
        assert.equal(record.use, "estimate");
        return { kind: "value", value: given < bound && record.index === 0 ? 1 : 0 };
      }),
    );
  };

test("token_rewriter: what a rewriter would keep of correct responses, and change of wrong ones", async () => {
  const models = new FakeModels({ models: ["rewriter"], seed: 4 });
  const term = made(tokenRewriter, { model: "rewriter", middle: 0.02 });
  const said = (): readonly TermValue[] => [
    { kind: "value", value: 1 },
    { kind: "value", value: 0 },
  ];
  const { logp } = await models.get("rewriter").score(stepped, { model: "rewriter", channels: ["logp"] });
  const shifted = [...logp!].map((one) => Math.exp(one) - 0.02);
  const [right, wrong] = (await term.score(stepped, contextOf(models, { said }))).map(plain);
  close(
    right as number[],
    shifted.slice(0, 5).map((one) => Math.max(0, Math.min(0.5, one))),
  );
  close(
    wrong as number[],
    shifted.slice(5).map((one) => Math.min(0, Math.max(-0.1, one))),
  );
  assert.ok(shifted.some((one) => one > 0) && shifted.some((one) => one < 0));
});

test("prefix_value: the share of correct continuations after each step, or +1 up to the last solvable one", async () => {
  const models = new FakeModels();
  const batches: Batch[] = [];
  const scores = solvableBelow(4, batches);
  const term = made(prefixValue, { k: 4 }, { max_tokens: 8 });
  const [every, whole] = (await term.score(stepped, contextOf(models, { scores }))).map(plain);
  assert.deepEqual([every, whole], [[0.25, 0.25, 0], 0.25]);
  assert.equal(batches[0]!.rows, 4 * 4);
  const binary = made(prefixValue, { k: 4, search: "binary" }, { max_tokens: 8 });
  const said = async (bound: number): Promise<ReturnType<typeof plain>[]> =>
    (await binary.score(stepped, contextOf(models, { scores: solvableBelow(bound) }))).map(plain);
  assert.deepEqual(await said(4), [[1, 1, -1], 1]);
  assert.deepEqual(await said(3), [[1, -1, -1], 1]);
  assert.deepEqual(await said(1), [[-1, -1, -1], -1]);
  assert.deepEqual(await said(9), [[1, 1, 1], 1]);
  // Three steps need two rounds, whichever of them is the last.
  for (const bound of [1, 3, 4, 9]) {
    const rounds: Batch[] = [];
    await binary.score(stepped, contextOf(models, { scores: solvableBelow(bound, rounds) }));
    assert.ok(rounds.length <= 2, String(rounds.length));
  }
});

test("prefix_value of a section ends where the section does; a response without one is worth 0", async () => {
  const models = new FakeModels();
  const encode = (text: string): number[] => [...fakeTokenizer.encode(text)];
  const response = "<p>a b</p> c";
  const rows = batchOf([
    { context: [1], tokens: encode(response), record: { response } },
    { context: [1], tokens: encode("none"), record: { response: "none" } },
  ]);
  const batches: Batch[] = [];
  const term = made(prefixValue, { k: 2, at: "section", tag: "p" }, { max_tokens: 20 });
  const scores = solvableBelow(99, batches);
  assert.deepEqual((await term.score(rows, contextOf(models, { scores }))).map(plain), [0.5, 0]);
  const given = batches[0]!.origin
    .subarray(0, batches[0]!.offsets[1])
    .filter((kind) => kind === origin.given);
  assert.equal(given.length, "<p>a b</p>".length);
});

test("a term that fails on a continuation is an error of the rollout", async () => {
  const term = made(prefixValue, { k: 1 }, { max_tokens: 8 });
  const scores = (_: string | undefined, batch: Batch): Promise<readonly TermValue[]> =>
    Promise.resolve(batch.records.map(() => ({ kind: "error", message: "broken" })));
  assert.deepEqual((await term.score(stepped, contextOf(new FakeModels(), { scores }))).map(plain), [
    "broken",
    "broken",
  ]);
});
