/** `explain` with advantages that read more than a step's rewards. */
import assert from "node:assert/strict";
import { test } from "node:test";
import { UserError } from "../../../../shared/lib/errors.ts";
import type { RolloutRow } from "../../../../shared/rollouts/rollouts.ts";
import { close, explained, oneTerm as one, paidRow as row } from "./support.ts";

test("a baseline that remembers knows the earlier steps of its run, and of no other", async () => {
  const text = `${one}advantage: { baseline: moving_average, scale: none }`;
  const at = (run: string, step: number, reward: number): RolloutRow => ({
    ...row("g", 0, reward),
    run,
    step,
  });
  const { rollouts } = await explained(text, [at("a", 0, 1), at("a", 1, 1), at("b", 1, 0.5), at("a", 2, 0)]);
  assert.deepEqual(
    rollouts.map(({ advantages }) => advantages[0]),
    [1, 0, 0.5, -1],
  );
});

test("rollouts of use estimate say what the state is worth that they left, and are not explained themselves", async () => {
  const text = `${one}advantage: { baseline: monte_carlo, scale: none }`;
  const steps: RolloutRow["steps"] = [
    [0, 1],
    [1, 2],
  ];
  const branch = (index: number, token: number, reward: number): RolloutRow =>
    row("g", index, reward, { use: "estimate", parent: { index: 0, token } });
  const { rollouts, order } = await explained(text, [
    row("g", 0, 1, { steps }),
    branch(1, 0, 0),
    branch(2, 0, 1),
    branch(3, 1, 0.75),
  ]);
  assert.deepEqual(order, ["g#0", "step 0"]);
  close(rollouts[0]!.advantages.slice(0, 2), [0.25, 0.25]);
});

test("what a baseline needs and the rollouts lack is reported", async () => {
  const lacking = async (advantage: string, message: RegExp): Promise<void> =>
    assert.rejects(explained(`${one}advantage: ${advantage}`, [row("g", 0, 1), row("g", 1, 0)]), (error) => {
      assert.ok(error instanceof UserError, String(error));
      assert.match(error.message, message);
      assert.ok(error.detail.action !== undefined);
      return true;
    });
  await lacking("{ baseline: greedy, scale: none }", /no rollout records one/);
  await lacking("{ baseline: critic, scale: none }", /the values of head value/);
  await lacking("{ baseline: optimal_token_baseline, scale: none }", /sum_pi_squared|logp_old/);
  await lacking("{ baseline: canon, scale: none }", /needs entropy/);
  await lacking("{ token_weights: [entropy] }", /needs entropy/);
});

test("a group of one is no fault where the config says what it gets", async () => {
  const text = `${one}advantage: { baseline: { use: group_mean, single: reward }, scale: { use: group_std, single: one, epsilon: 0 } }`;
  const { rollouts } = await explained(text, [row("g", 0, 3)]);
  assert.equal(rollouts[0]!.advantages[0], 3);
});
