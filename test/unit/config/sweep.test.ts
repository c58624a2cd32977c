/** Which runs a sweep has: a grid's order, and what is drawn at random. */
import assert from "node:assert/strict";
import { describe, it } from "node:test";
import { valueAt } from "../../../server/analysis/evidence/json.ts";
import { segments } from "../../../server/config/address.ts";
import {
  assignments,
  gridSize,
  sweepChoices,
  sweepSeeds,
  sweepTrials,
} from "../../../server/config/sweep/trials.ts";
import type { SweepConfig } from "../../../server/core/blocks/sweep.ts";
import { loadConfig } from "../../../server/rules/load.ts";

const grid: SweepConfig = {
  method: "grid",
  parameters: [
    { key: "update.optimizer.lr", values: [1e-6, 3e-6] },
    { key: "rollout.group", min: 4, max: 8, step: 2 },
  ],
  seeds: 2,
  metric: "eval/pass@1",
};
const random = (trials: number, ...parameters: SweepConfig["parameters"]): SweepConfig => ({
  ...grid,
  method: "random",
  trials,
  parameters,
});
const numbers = (sweep: SweepConfig, key: string, seed = 1): number[] =>
  sweepChoices(sweep, seed).map((choice) => Number(choice[key]));

describe("a grid", () => {
  it("has every combination, the last parameter fastest, each with its first seed before any has its second", () => {
    const trials = sweepTrials(grid, 7);
    assert.equal(gridSize(grid.parameters), 6);
    assert.deepEqual(
      trials.map(({ number, choice, seed }) => [number, ...Object.values(choice), seed]),
      [
        [1, 1e-6, 4, 7],
        [2, 1e-6, 6, 7],
        [3, 1e-6, 8, 7],
        [4, 3e-6, 4, 7],
        [5, 3e-6, 6, 7],
        [6, 3e-6, 8, 7],
        [7, 1e-6, 4, 8],
        [8, 1e-6, 6, 8],
        [9, 1e-6, 8, 8],
        [10, 3e-6, 4, 8],
        [11, 3e-6, 6, 8],
        [12, 3e-6, 8, 8],
      ],
    );
  });

  it("takes steps without what adding them up leaves", () => {
    const sweep = { ...grid, parameters: [{ key: "a", min: 0.1, max: 0.5, step: 0.1 }] };
    assert.deepEqual(numbers(sweep, "a"), [0.1, 0.2, 0.3, 0.4, 0.5]);
  });

  it("of seeds alone has one combination", () => {
    const trials = sweepTrials({ ...grid, parameters: [], seeds: [5, 9, 5] }, 1);
    assert.deepEqual(
      trials.map(({ seed, choice }) => [seed, choice]),
      [
        [5, {}],
        [9, {}],
      ],
    );
    assert.deepEqual(sweepSeeds(grid, 3), [3, 4]);
  });
});

describe("random combinations", () => {
  const rates = { key: "lr", min: 1e-6, max: 1e-2, scale: "log" } as const;

  it("are the same each time, other ones of another seed, and more trials leave the first ones", () => {
    assert.deepEqual(numbers(random(20, rates), "lr"), numbers(random(20, rates), "lr"));
    assert.deepEqual(numbers(random(20, rates), "lr"), numbers(random(50, rates), "lr").slice(0, 20));
    assert.notDeepEqual(numbers(random(20, rates), "lr", 1), numbers(random(20, rates), "lr", 2));
    const more = random(20, { key: "beta", min: 0, max: 1 }, rates);
    assert.deepEqual(numbers(more, "lr"), numbers(random(20, rates), "lr"));
  });

  it("in a logarithmic scale fall into each decade alike, and never out of bounds", () => {
    const drawn = numbers(random(4000, rates), "lr");
    assert.ok(drawn.every((value) => value >= 1e-6 && value <= 1e-2));
    const shares = [-6, -5, -4, -3].map(
      (decade) =>
        drawn.filter((value) => value >= 10 ** decade && value < 10 ** (decade + 1)).length / drawn.length,
    );
    // Standard deviation of a share of a quarter: 0.007.
    for (const share of shares) assert.ok(Math.abs(share - 0.25) < 0.03, `${shares.join(" ")}`);
  });

  it("in a linear scale fall into each quarter alike", () => {
    const drawn = numbers(random(4000, { key: "t", min: 1, max: 3 }), "t");
    const share = drawn.filter((value) => value < 1.5).length / drawn.length;
    assert.ok(Math.abs(share - 0.25) < 0.03, String(share));
    assert.ok(drawn.every((value) => value >= 1 && value <= 3));
  });

  it("with a step are whole, both ends as often as what lies between", () => {
    const group = { key: "group", min: 4, max: 16, step: 4 };
    const apart = { key: "x", min: 0, max: 1 };
    const drawn = numbers(random(4000, group, apart), "group");
    for (const value of [4, 8, 12, 16]) {
      const share = drawn.filter((one) => one === value).length / drawn.length;
      assert.ok(Math.abs(share - 0.25) < 0.03, `${value}: ${share}`);
    }
  });

  it("differ from each other, as far as there are others", () => {
    const few = random(10, { key: "a", values: [1, 2] }, { key: "b", values: ["x", "y"] });
    assert.equal(new Set(sweepChoices(few, 1).map((choice) => JSON.stringify(choice))).size, 4);
    assert.equal(sweepChoices(few, 1).length, 4);
  });
});

describe("each combination", () => {
  const text = `tasks: [{ env: countdown, numbers: [3, 4] }]
reward: { terms: { correct: equation } }
sweep:
  method: random
  parameters:
    update.optimizer.lr: { min: 1.0e-7, max: 1.0e-4, scale: log }
    rollout.group: { min: 4, max: 8, step: 1 }
    tasks.countdown.numbers: { values: [[3], [3, 4]] }
  trials: 8
`;
  const file = "/tmp/sums.gradus.yaml";
  const load = (set: readonly string[] = []) => loadConfig(file, { text, set }).config;

  it("is what `--set` makes of it, and a run's config knows nothing of the sweep", () => {
    const config = load();
    const { sweep } = config ?? {};
    assert.ok(config !== undefined && sweep !== undefined);
    assert.equal(config.tree["sweep"], undefined);
    for (const choice of sweepChoices(sweep, config.seed)) {
      const own = load(assignments(choice));
      for (const [key, value] of Object.entries(choice))
        assert.deepEqual(valueAt(own?.tree, segments(key)), value);
    }
  });

  it("of which only together two are wrong is found where there is time to look at all", () => {
    const together = `tasks: [{ env: countdown, numbers: [3, 4] }]
reward: { terms: { correct: equation } }
model: { heads: 4, width: 64 }
stages: [{ name: warm-up, kind: sft, steps: 5 }, { name: practice, steps: 5 }]
sweep:
  parameters:
    model.heads: { values: [4, 2] }
    model.kv_heads: { values: [4, 2] }
`;
    const found = (trials?: "combinations"): string[] =>
      loadConfig(file, { text: together, ...(trials && { trials }) }).diagnostics.map(
        ({ rule, message }) => `${rule} ${message}`,
      );
    assert.deepEqual(found(), []);
    const [problem, ...others] = found("combinations");
    assert.deepEqual(others, []);
    assert.match(problem ?? "", /^sweep-value With `model.kv_heads` 4: .*must divide/);
  });
});
