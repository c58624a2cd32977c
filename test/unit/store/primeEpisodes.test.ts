/** prime-rl's episodes as rollouts; the fixture is written after its source (test/fixtures/trackers/README.md). */
import assert from "node:assert/strict";
import { appendFileSync, cpSync, mkdirSync, renameSync } from "node:fs";
import { join } from "node:path";
import { test } from "node:test";
import { PrimeFeed } from "../../../server/store/imported/feeds/primeFeed.ts";
import type { FeedPart } from "../../../server/store/imported/feeds/feed.ts";
import { imported } from "./importedFeed.ts";
import { newStore } from "./support.ts";

const page = { tokens: true, offset: 0, limit: 100 };
const fixture = "test/fixtures/trackers/primeEpisodes/sums";

test("episodes are rollouts of their step, in their groups, with what was sampled token by token", async () => {
  const { summary, store, listed, series } = await imported(fixture);
  assert.deepEqual(
    [summary.trainer, summary.groups, summary.rollouts, listed?.status],
    ["prime_rl", "recorded", 8, "finished"],
  );
  const rows = store.queries.rollouts({ run: summary.run, step: 1, ...page }).rollouts;
  assert.deepEqual(
    rows.map(({ group, index, reward, finish }) => [group, index, reward, finish]),
    [
      ["g0", 0, 1.25, "stop"],
      ["g0", 1, 0.25, "length"],
      ["g1", 0, 1.25, "stop"],
      ["g1", 1, 0.25, "stop"],
    ],
  );
  const [first, , called] = rows;
  assert.deepEqual(
    { ...first, task: first!.task?.id },
    {
      ...first,
      task: "sum-3",
      prompt: "system: Answer with a number.\n\nuser: 3 + 3 =",
      response: "<think>hm</think>\n6",
      rewards: { correct: 1, brief: 0.5 },
      weights: { correct: 1, brief: 0.5 },
      admitted: true,
      policy: { start: 0, end: 0 },
      // The template's beginning of the answer is of the prompt.
      context: [9, 1, 2, 3, 4],
      tokens: [60, 61],
      mask: [1, 1],
      logp_sampled: [-0.125, -0.25],
      advantages: [1, 1],
      versions: [0, 0],
    },
  );
  assert.equal(first!.task?.data?.["answer"], "6");
  assert.deepEqual(
    [called!.tokens, called!.origin, called!.logp_sampled],
    [
      [50, 51, 6, 7, 8, 52],
      ["written", "written", "observed", "observed", "observed", "written"],
      [-0.125, -0.25, null, null, null, -0.125],
    ],
  );
  assert.deepEqual(
    called!.turns?.map(({ role, start, end, text }) => [role, start, end, text]),
    [
      ["assistant", 0, 2, 'Let me add.\nadd({"a": 4, "b": 4})'],
      ["tool", 2, 4, "8"],
      ["assistant", 4, 6, "8"],
    ],
  );
  assert.deepEqual(series("reward/total"), { steps: [1, 2], values: [0.75, 1] });
});

test("which weights began a rollout is known, and by how many updates they were older", async () => {
  const { store, summary, series } = await imported(fixture);
  assert.deepEqual(series("rollout/staleness"), { steps: [1, 2, 3], values: [0, 1, 1] });
  assert.deepEqual(series("rollout/staleness/max")?.values, [0, 1, 2]);
  const { rollouts } = store.queries.rollouts({ run: summary.run, step: 2, ...page });
  const trained = rollouts.filter(({ use }) => use === "train");
  assert.deepEqual(
    trained.map(({ policy, versions }) => [policy, versions]),
    [
      [{ start: 0, end: 1 }, undefined],
      [{ start: 0, end: 1 }, undefined],
    ],
    "a judge trains nothing, and which of two weights wrote a token nobody knows",
  );
  const [measured] = rollouts.filter(({ use }) => use === "evaluate");
  assert.deepEqual([measured?.response, measured?.tokens], ["<think>hm</think>\n14", undefined]);
});

test("a step is taken in when its metrics are there or a later step has begun, and only whole lines of it", () => {
  const folder = join(newStore().folder, "growing");
  mkdirSync(join(folder, "rollouts"), { recursive: true });
  cpSync(join(fixture, "metrics.jsonl"), join(folder, "later.jsonl"));
  appendFileSync(join(folder, "metrics.jsonl"), "");
  const step = (number: number): void =>
    cpSync(join(fixture, "rollouts", `step_${number}`), join(folder, "rollouts", `step_${number}`), {
      recursive: true,
    });
  const feed = new PrimeFeed(folder);
  const stepsOf = (parts: readonly FeedPart[]): number[] =>
    parts.filter(({ rows }) => rows !== undefined).map((part) => part.step);
  step(1);
  assert.deepEqual(stepsOf(feed.next(false).parts), []);
  step(2);
  assert.deepEqual(stepsOf(feed.next(false).parts), [1]);
  renameSync(join(folder, "later.jsonl"), join(folder, "metrics.jsonl"));
  assert.deepEqual(stepsOf(feed.next(false).parts), [2]);
  step(3);
  appendFileSync(join(folder, "rollouts/step_3/train/effective/traces.jsonl"), '{"id": "e1", "tra\n');
  assert.deepEqual(stepsOf(feed.next(false).parts), []);
  assert.deepEqual(stepsOf(feed.next(true).parts), [3]);
  assert.deepEqual(feed.about().notes, ["1 lines are no episodes and were left out"]);
});
