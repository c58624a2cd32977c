/** Clocks of a stage list, ends of several conditions, and the arithmetic of what stages take over. */
import assert from "node:assert/strict";
import { resolve } from "node:path";
import { test } from "node:test";
import { loadConfig } from "../../../server/rules/load.ts";
import { stageAt } from "../../../server/analysis/explain/stageAt.ts";
import type { StageConfig } from "../../../server/core/config/stageConfig.ts";
import { placeAt, stepsInAll, turnAt, turnsTaken } from "../../../server/config/build/stagePlan.ts";
import { keyedRandom } from "../../../server/core/config/keyedRandom.ts";
import { ownShare, partOf } from "../../../server/algorithm/curriculum/stageDraw.ts";
import { capacities, difficulty, drawCarried, Ledger } from "../../../server/algorithm/curriculum/ledger.ts";
import { weightedMean } from "../../../server/run/stages/weights.ts";
import { ends, seenWith, whyEnded, type Histories } from "../../../server/algorithm/curriculum/until.ts";
import type { Task } from "../../../server/core/task.ts";
import type { Group } from "../../../server/core/rollouts.ts";

const text = `tasks: [{ env: countdown }]
reward: { terms: { correct: equation } }
stages:
  - { name: warm-up, kind: sft, steps: 4 }
  - { name: a, rollout: { group: 4 } }
  - { name: taught, kind: sft }
  - { name: rounds, steps: 7, alternate: [{ stage: a, steps: 2 }, { stage: taught, steps: 1 }] }
  - { name: last, steps: 3 }
`;
const load = (steps?: number): readonly StageConfig[] => {
  const { config, diagnostics } = loadConfig(resolve("any.gradus.yaml"), {
    text,
    ...(steps === undefined ? {} : { steps }),
  });
  assert.ok(config, JSON.stringify(diagnostics));
  return config.stages;
};

test("every step has its stage and its clocks", () => {
  const stages = load();
  const told = Array.from({ length: stepsInAll(stages) }, (_, step) => {
    const { stage, clock } = placeAt(stages, step)!;
    return `${stage.name} ${clock.step} ${clock.stageStep}`;
  });
  assert.deepEqual(told, [
    ...[0, 1, 2, 3].map((step) => `warm-up 0 ${step}`),
    "a 0 0",
    "a 1 1",
    "taught 2 0",
    "a 2 2",
    "a 3 3",
    "taught 4 1",
    "a 4 4",
    "last 5 0",
    "last 6 1",
    "last 7 2",
  ]);
  assert.equal(placeAt(stages, told.length), undefined);
  assert.deepEqual(
    stages.map(({ name, kind, steps, part }) => [name, kind, steps, part]),
    [
      ["warm-up", "sft", 4, false],
      ["a", "rl", 5, true],
      ["taught", "sft", 2, true],
      ["rounds", "alternate", 7, false],
      ["last", "rl", 3, false],
    ],
  );
});

test("a recorded step is one of the rl stage that made it, or of the first after it", () => {
  const stages = load();
  const { config } = loadConfig(resolve("any.gradus.yaml"), { text });
  assert.ok(config);
  const clock = (step: number): unknown => stageAt(config, step).clock;
  assert.deepEqual(clock(0), { step: 0, stageStep: 0 });
  assert.deepEqual(clock(6), { step: 2, stageStep: 2 });
  assert.deepEqual(clock(13), { step: 7, stageStep: 2 });
  assert.deepEqual(clock(20), { step: 14, stageStep: 9 });
  assert.equal(stepsInAll(stages), 14);
});

test("a cap counts rl steps, turns included, and drops what has none left", () => {
  const steps = (cap: number): unknown[] =>
    load(cap)
      .filter(({ part }) => !part)
      .map(({ name, steps: own }) => [name, own]);
  assert.deepEqual(steps(6), [
    ["warm-up", 4],
    ["rounds", 7],
    ["last", 1],
  ]);
  // Three rl steps: two, one of the other stage, one more.
  assert.deepEqual(steps(3), [
    ["warm-up", 4],
    ["rounds", 4],
  ]);
});

test("turns are a function of the step alone", () => {
  const turns = [
    { stage: 1, steps: 8 },
    { stage: 2, steps: 2 },
  ];
  assert.deepEqual(turnsTaken(turns, 25), [21, 4]);
  assert.deepEqual(turnAt(turns, 0), { stage: 1, before: 0, begins: true });
  assert.deepEqual(turnAt(turns, 8), { stage: 2, before: 0, begins: true });
  assert.deepEqual(turnAt(turns, 19), { stage: 2, before: 3, begins: false });
  assert.deepEqual(turnAt(turns, 20), { stage: 1, before: 16, begins: true });
});

test("any ends with the first that holds, all with the last", () => {
  const conditions = [
    { metric: "a", above: 0.5, window: 1, min_delta: 0, mode: "max" },
    { metric: "b", below: 0.2, window: 2, min_delta: 0, mode: "max" },
  ] as const;
  const [any, all] = [
    { of: "any", conditions },
    { of: "all", conditions },
  ] as const;
  let seen: Histories = {};
  const steps = [
    { a: 0.1, b: 0.9 },
    { a: 0.9, b: 0.3 },
    { a: 0.9, b: 0.05 },
    { a: 0.4, b: 0.1 },
    { a: 0.6, b: 0.1, c: 3 },
  ];
  const held = steps.map((metrics) => {
    seen = seenWith(any, seen, metrics);
    return [ends(any, seen), ends(all, seen)];
  });
  assert.deepEqual(held, [
    [false, false],
    [true, false],
    [true, true],
    [true, false],
    [true, true],
  ]);
  assert.deepEqual(seen, { a: [0.4, 0.6], b: [0.05, 0.1, 0.1] });
  assert.equal(whyEnded(any, seen), "a is 0.6, above 0.5");
  assert.equal(whyEnded(all, seen), "a is 0.6, above 0.5, and the mean of b over 2 values is 0.1, below 0.2");
});

test("the own share of a crossfade, and parts whose mean is the share", () => {
  assert.deepEqual(
    [0, 5, 10, 20].map((step) => ownShare({ over: 10, shape: "linear" }, step)),
    [0, 0.5, 1, 1],
  );
  assert.ok(Math.abs(ownShare({ over: 10, shape: "cosine" }, 2.5) - 0.5 * (1 - Math.SQRT1_2)) < 1e-12);
  const random = keyedRandom("parts");
  const parts = Array.from({ length: 20_000 }, (_, i) => partOf(10, 0.37, random.fork(i)));
  assert.ok(parts.every((part) => part === 3 || part === 4));
  const mean = parts.reduce((sum, part) => sum + part, 0) / parts.length;
  // Standard error of the mean: √(0.7 · 0.3 / 20000) = 0.0032.
  assert.ok(Math.abs(mean - 3.7) < 0.013);
});

const task = (id: string): Task => ({ id, source: "s", env: "e", prompt: id, data: {} });
const group = (id: string, rewards: readonly number[]): Group => ({
  task: task(id),
  arm: "s",
  rewards: Float64Array.from(rewards),
  advantages: new Float64Array(0),
  successes: rewards.filter((reward) => reward === 1).length,
  lengths: new Float64Array(rewards.length),
});

test("carried tasks are drawn by 1 / mean reward of their latest group", () => {
  const choice = {
    from: "all",
    share: 0.25,
    weight: "inverse_reward",
    below: 1,
    floor: 0.1,
    unsolved: "keep",
    capacity: 3,
  } as const;
  const ledger = new Ledger();
  ledger.observe(
    0,
    [group("easy", [1, 1, 1, 1]), group("half", [0, 0, 0, 1]), group("never", [0, 0, 0, 0])],
    3,
  );
  ledger.observe(0, [group("half", [1, 0, 1, 0])], 3);
  const weights = (of: Ledger): unknown =>
    of.candidates([0], choice).map(({ task: { id }, weight }) => [id, weight]);
  assert.deepEqual(weights(ledger), [
    ["never", 10],
    ["half", 2],
  ]);
  assert.deepEqual(
    ledger.candidates([0], { ...choice, unsolved: "leave_out" }).map(({ task: { id } }) => id),
    ["half"],
  );
  const again = new Ledger();
  again.load(ledger.save());
  assert.deepEqual(weights(again), weights(ledger));
  // The oldest go where there is no room.
  ledger.observe(0, [group("new", [0, 1, 1, 1])], 3);
  assert.deepEqual(
    ledger.candidates([0], choice).map(({ task: { id } }) => id),
    ["never", "half", "new"],
  );
  assert.equal(difficulty(0.3, 0.25, { weight: "inverse_success", floor: 0.1 }), 4);
});

test("draws of carried tasks follow their weights (chi-square over 1e5, 3 degrees of freedom)", () => {
  const items = [1, 2, 3, 4].map((weight) => ({ weight }));
  const random = keyedRandom("carried");
  const counts = new Map(items.map((item) => [item, 0]));
  for (let i = 0; i < 100_000; i++) {
    const [item] = drawCarried(items, 1, random.fork(i));
    counts.set(item!, counts.get(item!)! + 1);
  }
  const chi = items.reduce((sum, item) => {
    const expected = 10_000 * item.weight;
    return sum + (counts.get(item)! - expected) ** 2 / expected;
  }, 0);
  assert.ok(chi < 16.27, `p > 0.001: ${chi}`);
  // None twice while there are others.
  assert.equal(new Set(drawCarried(items, 4, random)).size, 4);
  assert.equal(drawCarried(items, 6, random).length, 6);
});

test("only stages whose tasks somebody takes over are remembered", () => {
  const carrying = `${text}  - { name: again, steps: 2, rollout: { group: 2 }, on_enter: { carry_over: { from: previous, capacity: 9 } } }\n`;
  const { config } = loadConfig(resolve("any.gradus.yaml"), { text: carrying });
  assert.deepEqual(capacities(config!.stages), [0, 0, 0, 0, 9, 0]);
});

test("a mean of weights", () => {
  const mean = weightedMean([
    { values: { w: Float32Array.of(1, 2) }, weight: 1 },
    { values: { w: Float32Array.of(5, -2) }, weight: 3 },
  ]);
  assert.deepEqual(mean, { w: Float32Array.of(4, -1) });
});
