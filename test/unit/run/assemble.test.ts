import assert from "node:assert/strict";
import { test } from "node:test";
import type { RewardColumn } from "../../../server/core/reward.ts";
import { assemble, concatenate } from "../../../server/run/step/generate/assemble.ts";
import { joinColumns, selectColumn } from "../../../server/run/step/score/rewardColumns.ts";
import { draftsOf, rollOut } from "../../../server/run/step/generate/generate.ts";
import { namedGroups } from "../../../server/algorithm/curriculum/namedGroups.ts";
import { Interrupted } from "../../../server/run/loop/session.ts";
import { likelihood, solved } from "../../../server/run/stages/supervised.ts";
import { batchOf, task } from "../../support/batch.ts";
import { FakeModels, fakeTokenizer } from "../../support/fakePolicy.ts";

const drawn = (id: string): { arm: string; task: ReturnType<typeof task> } => ({
  arm: "toy",
  task: task(id, { prompt: "1+1=" }),
});
const decode = { max_tokens: 4, temperature: 1, seed: 3 };

test("a task that comes twice in a step is two groups with streams of their own", async () => {
  const policy = new FakeModels().get("policy");
  const places = namedGroups([drawn("a"), drawn("a"), drawn("b")], new Set());
  assert.deepEqual(
    places.map(({ group }) => group),
    ["a", "a~2", "b"],
  );
  const batch = await rollOut(
    policy,
    draftsOf(places, 2, policy, ["rollout", 0], "train", { chat: "auto" }),
    decode,
  );
  assert.equal(batch.groups, 3);
  assert.deepEqual([...batch.group], [0, 0, 1, 1, 2, 2]);
  assert.equal(new Set(batch.records.map(({ response }) => response)).size, 6);
});

test("a rollout does not depend on what is generated next to it, nor on the order of finishing", async () => {
  const policy = new FakeModels().get("policy");
  const all = draftsOf(namedGroups([drawn("a"), drawn("b")], new Set()), 2, policy, ["rollout", 0], "train", {
    chat: "auto",
  });
  const together = await rollOut(policy, all, decode);
  const alone = await rollOut(policy, all.slice(3), decode);
  assert.equal(together.records[3]!.response, alone.records[0]!.response);
  const samples = new Map<
    number,
    Parameters<typeof assemble>[1] extends ReadonlyMap<number, infer S> ? S : never
  >();
  for await (const sample of policy.generate(
    all.map(({ prompt }) => prompt),
    decode,
  ))
    samples.set(sample.index, sample);
  const shuffled = new Map([...samples].reverse());
  assert.deepEqual(assemble(all, shuffled, fakeTokenizer, 0), together);
});

test("a stop asked for while generating gives the step up", async () => {
  const policy = new FakeModels().get("policy");
  const drafts = draftsOf(namedGroups([drawn("a")], new Set()), 4, policy, ["rollout", 0], "train", {
    chat: "auto",
  });
  let asked = 0;
  const between = (): Promise<void> =>
    ++asked === 2 ? Promise.reject(new Interrupted()) : Promise.resolve();
  await assert.rejects(rollOut(policy, drafts, { ...decode, between }), Interrupted);
  assert.equal(asked, 2);
});

test("a prompt that fills the context is an error that says so", () => {
  const policy = new FakeModels().get("policy");
  const long = { arm: "toy", task: task("long", { prompt: "1".repeat(200) }) };
  assert.throws(
    () => draftsOf(namedGroups([long], new Set()), 1, policy, [], "train", { chat: "auto" }),
    /200 tokens leaves no room in the model's context of 128/,
  );
});

test("rounds of a step join into one batch, columns and groups included", () => {
  const one = batchOf(
    [
      { context: [1], tokens: [2, 3] },
      { context: [1, 1], tokens: [4] },
    ],
    { logp_old: Float64Array.of(-1, -2, -3), versions: Int32Array.of(0, 0, 0) },
  );
  const two = batchOf([{ context: [5], tokens: [6, 7] }], {
    logp_old: Float64Array.of(-4, -5),
    versions: Int32Array.of(1, 1),
  });
  const both = concatenate([one, two]);
  assert.deepEqual([...both.offsets], [0, 2, 3, 5]);
  assert.deepEqual([...both.group], [0, 0, 1]);
  assert.deepEqual([...both.columns.logp_old!], [-1, -2, -3, -4, -5]);
  assert.deepEqual([...both.columns.versions!], [0, 0, 0, 1, 1]);
  assert.deepEqual(
    [...both.context.values.subarray(both.context.offsets[1], both.context.offsets[2])],
    [1, 1],
  );
});

test("reward columns keep errors and levels when rows are chosen and rounds joined", () => {
  const response: RewardColumn = {
    name: "r",
    level: "response",
    status: Uint8Array.of(0, 2),
    offsets: Int32Array.of(0, 1, 2),
    values: Float64Array.of(1, Number.NaN),
    errors: new Map([[1, "late"]]),
  };
  const token: RewardColumn = {
    name: "r",
    level: "token",
    status: Uint8Array.of(0),
    offsets: Int32Array.of(0, 3),
    values: Float64Array.of(1, 2, 3),
    errors: new Map(),
  };
  const [joined] = joinColumns([[response], [token]]);
  assert.equal(joined!.level, "token");
  assert.deepEqual([...joined!.offsets], [0, 1, 2, 5]);
  const chosen = selectColumn(joined!, [2, 1]);
  assert.deepEqual([...chosen.values], [1, 2, 3, Number.NaN]);
  assert.deepEqual([...chosen.errors], [[1, "late"]]);
});

test("a supervised batch trains on the response and its end; the slope equals a central difference", () => {
  const batch = solved(
    [task("a", { prompt: "1+1=", solution: "2" }), task("b", { prompt: "2+2=", solution: "4" })],
    fakeTokenizer,
  );
  assert.deepEqual([...batch.tokens], [2, fakeTokenizer.eos, 4, fakeTokenizer.eos]);
  assert.deepEqual([...batch.mask], [1, 1, 1, 1]);
  const logp = Float64Array.of(-1, -0.5, -2, -0.25);
  const { loss, gradients } = likelihood({ logp }, batch);
  assert.ok(Math.abs(loss - 3.75 / 4) < 1e-12);
  logp.forEach((_, t) => {
    const at = (by: number): number =>
      likelihood({ logp: logp.map((value, i) => (i === t ? value + by : value)) }, batch).loss;
    assert.ok(Math.abs(gradients.logp![t]! - (at(1e-6) - at(-1e-6)) / 2e-6) < 1e-8);
  });
});

test("a task without a solution cannot be learned from, and the error says what to do", () => {
  assert.throws(() => solved([task("a", { prompt: "1+1=" })], fakeTokenizer), {
    name: "UserError",
    message: /task a has no written solution/,
  });
});
