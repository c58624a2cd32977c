/** A run's own history, replayed, gives what the run had: presets of every kind, each in a run of a few steps. */
import assert from "node:assert/strict";
import { test } from "node:test";
import { replay } from "../../../../server/analysis/history/replay.ts";
import { whatIf } from "../../../../server/analysis/history/whatIf.ts";
import { listPresets } from "../../../../server/config/presets.ts";
import { curriculumPresets, shortRun } from "../../../support/curriculumPresets.ts";
import { assertReplays, replayedRun, tinyRun, twoLengths } from "../../../support/replayedRun.ts";

test("every preset with a curriculum has a short run, which the long tests replay", () => {
  const own = listPresets().filter(({ slots }) => slots.includes("curriculum"));
  assert.deepEqual(
    own.map(({ id }) => id).filter((id) => curriculumPresets[id] === undefined),
    [],
  );
});

// Groups alone; mixtures over points of a box, and tries of the sampler; rollouts that try every arm, and block after block;
// angles, and values, that a model shows; passes in a fixed order before another stage; arms that leave.
for (const preset of ["sec", "adcl", "gain-rl", "pcl", "kimi-k1.5-sampling", "drive"])
  test(`${preset}: estimates and state of the replay are the run's`, async () => {
    assertReplays(await replayedRun(...shortRun(preset, 4)));
  });

test("again: points that come up are arms; another seed than the config's made them; a what-if goes through them, too", async () => {
  const [text, set, files] = shortRun("again", 4);
  const replayed = await replayedRun(text, [...set, "seed=7"], files);
  assertReplays(replayed);
  const { config, history, steps } = replayed;
  const other = [...replay({ ...config, seed: 1 }, history)];
  assert.deepEqual(other, steps, "the history says the run's seed");
  assert.equal((await whatIf(config, history, undefined, 2)).length, steps.length);
});

test("tasks that come up in the run are arms of the replay", async () => {
  const generate =
    "{ from: [reverse_text], selector: failures, transform: simplify, author: program, gates: [], every: 2, first: 1, parents: 3 }";
  const replayed = await replayedRun(`extends: grpo
tasks: [{ env: reverse_text, lengths: [2, 3] }, { name: easier, generate: ${generate} }]
${tinyRun}steps: 5
curriculum: { arms: { use: prompt, pool: 6 }, signal: success_rate, estimator: last, sampler: { use: sorted, order: ascending } }
`);
  assertReplays(replayed);
  assert.ok(
    replayed.history.some(({ arm }) => arm.startsWith("easier/")),
    "some were drawn",
  );
});

test("a stage that ends by a metric of the run, a supervised one, one that passes over and refills", async () => {
  const replayed = await replayedRun(`extends: sec
${twoLengths}${tinyRun}stages:
  - { name: first, steps: 8, until: { metric: update/loss, below: 1000, window: 2 } }
  - { name: warm, kind: sft, steps: 1 }
  - name: second
    steps: 3
    crossfade: { over: 3, of: [tasks] }
    curriculum: { estimator: { use: window, size: 3 }, admission: { use: nonzero_variance, refill: { use: fixed } } }
`);
  assertReplays(replayed);
  assert.deepEqual(
    replayed.steps.map(({ step, stage }) => [step, stage]),
    [
      [0, "first"],
      [1, "first"],
      [3, "second"],
      [4, "second"],
      [5, "second"],
    ],
  );
});

test("a history that lacks what the estimator measures in addition to the groups is refused, with what to do", async () => {
  for (const [preset, lack] of [
    ["sari", /what `estimator: pass_rate` measures with pilot rollouts \(step 0\)/],
    ["gain-rl", /what `estimator: angle_concentration` reads from prompts with a model \(step 0\)/],
  ] as const) {
    const { config, history } = await replayedRun(...shortRun(preset, 1));
    const bare = history.map(({ curriculum: _, ...group }) => group);
    assert.throws(() => [...replay(config, bare)], lack);
  }
});
