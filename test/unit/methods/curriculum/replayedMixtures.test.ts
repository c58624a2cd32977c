/** A past run's mixtures, one after the other or all at once: what is left out, when the next comes, what the last becomes. */
import assert from "node:assert/strict";
import { test } from "node:test";
import type { PastCurriculum } from "../../../../server/methods/curriculum/pastCurriculum.ts";
import {
  ReplayedMixtures,
  worthFollowing,
  type PastStage,
} from "../../../../server/methods/curriculum/samplers/mixtures/replayedMixtures.ts";
import { near } from "../../support.ts";

const component = (signal: number): PastCurriculum["mixtures"][number]["components"][number] => ({
  weight: 0.5,
  mean: [0.5, signal],
  covariance: [
    [0.04, 0.01],
    [0.01, 0.09],
  ],
});

test("components of little signal are left out, and mixtures without others; rewards are those of what is kept", () => {
  const earned: [number, number][] = Array.from({ length: 130 }, (_, i) => [i % 2, i]);
  const stages = worthFollowing(
    {
      mixtures: [
        { groups: 1, components: [component(0.1), component(0.2)], earned },
        { groups: 2, components: [component(0.3), component(0.1)], earned },
        { groups: 3, components: [component(0.1), component(0.4)], earned: [[0, 5]] },
      ],
    },
    0.2,
  );
  assert.deepEqual(
    stages.map(({ mixture }) => mixture.map(({ mean }) => mean[1])),
    [[0.3], [0.4]],
  );
  // The last fifty of component 0: 30, 32, …, 128.
  assert.deepEqual(
    stages.map(({ reward }) => reward),
    [79, null],
  );
  const { factor } = stages[0]!.mixture[0]!;
  assert.ok(near(factor[0], 0.2) && near(factor[2], 0.05) && near(factor[3]! ** 2 + 0.05 ** 2, 0.09));
});

const stage = (reward: number | null, ...signals: readonly number[]): PastStage => ({
  reward,
  mixture: signals.map((signal) => ({
    weight: 1,
    mean: Float64Array.of(0.5, signal),
    factor: Float64Array.of(0.1, 0, 0, 0.1),
  })),
});
const how = { window: 3, tolerance: 1, fit_every: 10 };
const from = (number: number, component = 0): { readonly stage: number; readonly component: number } => ({
  stage: number,
  component,
});

test("by reward: on once the last few earn what they earned the past run; groups from elsewhere do not count", () => {
  const replay = new ReplayedMixtures(
    [stage(0.5, 1), stage(null, 2), stage(0.9, 3)],
    { ...how, advance: "reward" },
    0,
  );
  const learn = (reward: number, origin: ReturnType<typeof from> | null = from(replay.stage)) =>
    replay.learn({ origin: origin ?? undefined, reward, signal: 0 }, 1);
  assert.deepEqual(
    [0.1, 0.4, 0.6].map((reward) => learn(reward)),
    [undefined, undefined, undefined],
  );
  assert.equal(learn(1, null), undefined);
  assert.equal(learn(1, from(2)), undefined);
  assert.equal(learn(Number.NaN), undefined);
  // 0.4, 0.6, 0.5: the mean is 0.5.
  assert.equal(learn(0.5), "advanced");
  assert.deepEqual({ stage: replay.stage, second: replay.mixture[0]!.mean[1] }, { stage: 1, second: 2 });
  // A stage of which no reward is known lasts as long as the window is not full.
  assert.deepEqual(
    [learn(0, from(0)), learn(0), learn(0), learn(0)],
    [undefined, undefined, undefined, "advanced"],
  );
  assert.equal(learn(0), "over");
  assert.equal(learn(1), undefined);
  const easier = new ReplayedMixtures(
    [stage(0.5, 1), stage(1, 2)],
    { ...how, window: 1, tolerance: 0.5, advance: "reward" },
    0,
  );
  assert.equal(easier.learn({ origin: from(0), reward: 0.25, signal: 0 }, 1), "advanced");
});

test("by time: a mixture for as many groups as lie between two fits, from the run's first on", () => {
  const stages = [stage(9, 1), stage(9, 2), stage(9, 3), stage(9, 4)];
  const replay = new ReplayedMixtures(stages, { ...how, advance: "time" }, 12);
  const seen = Array.from({ length: 25 }, (_, i) => {
    const change = replay.learn({ origin: undefined, reward: 0, signal: 0 }, 13 + i);
    return change === undefined ? "" : `${13 + i} ${change} ${replay.stage}`;
  });
  assert.deepEqual(
    seen.filter((one) => one !== ""),
    ["20 advanced 2", "30 advanced 3", "31 over 3"],
  );
  assert.equal(new ReplayedMixtures(stages, { ...how, advance: "time" }, 99).stage, 3);
});

test("as a pool: all components at once, and never over", () => {
  const replay = new ReplayedMixtures([stage(0, 1, 2), stage(0, 3)], { ...how, advance: "pool" }, 50);
  assert.deepEqual(
    replay.mixture.map(({ mean }) => mean[1]),
    [1, 2, 3],
  );
  for (let i = 0; i < 300; i++)
    assert.equal(replay.learn({ origin: from(0, 2), reward: 1, signal: 0 }, 50 + i), undefined);
  assert.equal(replay.over, false);
});

test("the last mixture goes on with the signals of groups drawn from it, renewed every hundred", () => {
  const replay = new ReplayedMixtures([stage(0, 0.5, 0.6, 0.7)], { ...how, advance: "reward" }, 0);
  const signals = (): (number | undefined)[] => replay.mixture.map(({ mean }) => mean[1]);
  for (let i = 0; i < 99; i++) {
    replay.learn({ origin: from(0, i % 2), reward: 0, signal: i % 2 }, i);
    replay.learn({ origin: undefined, reward: 0, signal: 100 }, i);
  }
  assert.deepEqual(signals(), [0.5, 0.6, 0.7]);
  replay.learn({ origin: from(0, 1), reward: 0, signal: 1 }, 99);
  assert.deepEqual(signals(), [0, 1, 0]);
  for (let i = 0; i < 100; i++) replay.learn({ origin: from(0, 0), reward: 0, signal: 0.25 }, i);
  assert.deepEqual(signals(), [0.25, 1, 0]);
});
