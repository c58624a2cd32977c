/** `gradus/rollouts/why`: the daemon explains a rollout of a run from what the store has. */
import assert from "node:assert/strict";
import { afterEach, beforeEach, test } from "node:test";
import { ask } from "../../../shared/daemon/request.ts";
import { rolloutsQuery, rolloutsWhy } from "../../../shared/protocol/protocol.ts";
import { Sandbox } from "../daemon.ts";

let box: Sandbox;
beforeEach(async () => {
  box = await Sandbox.make();
});
afterEach(() => box.end());

test("a rollout of a run is explained by the run's own config; what is not there is named", async () => {
  const connection = await box.connect();
  const run = await box.start(connection, 3, 1);
  await box.reach(connection, run, ({ status }) => status === "finished");
  const { rollouts } = await ask(connection, rolloutsQuery, { run, step: 2 });
  const { group, index, rewards } = rollouts[1]!;
  const why = await ask(connection, rolloutsWhy, { run, step: 2, group, index });
  assert.deepEqual(
    { type: why.type, step: why.step, group: why.group, index: why.index, reward: why.reward },
    { type: "why", step: 2, group, index, reward: rewards?.["correct"] },
  );
  assert.deepEqual(
    { baseline: why.baseline, scale: why.scale },
    { baseline: "group_mean", scale: "group_std" },
  );
  assert.ok(why.words.length > 0 && why.siblings.some((sibling) => sibling.index === index));
  await assert.rejects(
    ask(connection, rolloutsWhy, { run, step: 2, group: "nobody", index: 0 }),
    /there is no rollout nobody#0 in step 2/,
  );
  await assert.rejects(ask(connection, rolloutsWhy, { run: "none", step: 0, group, index }), /none/);
});
