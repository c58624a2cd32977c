import assert from "node:assert/strict";
import { test } from "node:test";
import type { RolloutRow } from "../../../../shared/rollouts/rollouts.ts";
import { keyOf, recordedChannel } from "../../../../server/analysis/explain/channels.ts";
import type { Channel } from "../../../../server/core/policy.ts";
import { close, explained, oneTerm as one, paidRow as row } from "./support.ts";

test("a term that is absent or null on a rollout does not apply there; one that is not finite has failed there", async () => {
  const both =
    "reward: { terms: { right: { use: equation }, style: { use: format } } }\nadvantage: { scale: none }\n";
  const paid = (index: number, rewards: NonNullable<RolloutRow["rewards"]>): RolloutRow => ({
    ...row("g", index, 0),
    rewards,
  });
  const { rollouts, steps } = await explained(both, [
    paid(0, { right: 1, style: 1 }),
    paid(1, { right: 0 }),
    paid(2, { right: 0, style: null }),
    paid(3, { right: 1, style: "Infinity" }),
    paid(4, { right: null, style: null }),
  ]);
  assert.deepEqual(
    rollouts.map(({ reward }) => reward),
    [2, 0, 0, null, null],
  );
  close(
    rollouts.map(({ advantages }) => advantages[0]),
    [2 - 2 / 3, -2 / 3, -2 / 3, 0, 0],
  );
  assert.deepEqual(
    rollouts.map(({ weights }) => weights[0]),
    [1, 1, 1, 0, 0],
  );
  assert.equal(steps[0]!.metrics["reward/style/errors"], 1);
  assert.equal(steps[0]!.metrics["reward/right/errors"], 0);
});

test("what a loss reads in addition to log-probs is taken from the row: heads, other models, under the channel's own name", () => {
  const rows: (RolloutRow & Record<string, unknown>)[] = [
    { step: 0, group: "g", index: 0, values: [1, null], "head:q1": [3, 4], "logp:teacher": [-1, "NaN"] },
    { step: 0, group: "g", index: 1, logp_ref: [-3], "head:q1": [1, 2], logsumexp: "no" },
  ];
  const offsets = Int32Array.from([0, 2, 3]);
  const of = (channel: Channel) => recordedChannel(rows, channel, offsets);
  assert.deepEqual(of("head:value"), Float64Array.from([1, NaN, NaN]));
  assert.deepEqual(of("logp:reference"), Float64Array.from([NaN, NaN, -3]));
  assert.deepEqual(of("head:q1"), Float64Array.from([3, 4, NaN]), "a list of another length is not it");
  assert.deepEqual(of("logp:teacher"), Float64Array.from([-1, NaN, NaN]));
  assert.equal(of("logsumexp"), undefined);
  assert.deepEqual(
    ["logp", "head:value", "logp:reference", "logp:teacher"].map((name) => keyOf(name as Channel)),
    ["logp_new", "values", "logp_ref", "logp:teacher"],
  );
});

test("each rollout says which of its tokens a rule touched", async () => {
  const { rollouts } = await explained(
    `${one}advantage: { scale: none }\nobjective: { use: clipped, aggregate: token_mean }\n`,
    [row("g", 0, 1, { logp_old: [-1, -4] }), row("g", 1, 0, { logp_old: [-1, -2] })],
  );
  assert.deepEqual(rollouts[0]!.touched, { clip_high: [[1, 2]] });
  assert.equal(rollouts[1]!.touched, undefined);
  assert.equal(rollouts[0]!.grad_logp![1], 0);
});
