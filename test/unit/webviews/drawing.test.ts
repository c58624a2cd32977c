/** Bands, axes, terms and constants: what a chart says of its numbers. */
import assert from "node:assert/strict";
import { test } from "node:test";
import fc from "fast-check";
import { chartOf } from "../../../shared/editor/runPanel.ts";
import { charts } from "../../../webviews/run/charts.ts";
import { constants } from "../../../webviews/run/constants.ts";
import { withinPossible } from "../../../webviews/run/learning/rewardRange.ts";
import { axisRange } from "../../../webviews/shared/axis.ts";
import { describeStep, formatTicks, formatValue } from "../../../webviews/shared/chartModel.ts";
import { RunSeries } from "../../../webviews/shared/series.ts";
import { runAt, warmUp } from "../../webview/fakeRun.ts";

const view = (metrics: Readonly<Record<string, readonly number[]>>, evaluations: object = {}) => {
  const series = new RunSeries();
  series.load(
    Object.entries(metrics).map(([metric, values]) => ({
      metric,
      values,
      steps: values.map((_, i) => i),
      total: values.length,
    })),
    0,
  );
  const rows =
    Object.entries(evaluations).length === 0
      ? []
      : [{ step: 0, role: "first" as const, metrics: { ...evaluations } }];
  return { run: runAt(warmUp + 1), series, evaluations: rows };
};
const modelOf = (id: string, shown: ReturnType<typeof view>) =>
  charts.find((chart) => chart.id === id)!.model(shown);
const times = (count: number, value: (i: number) => number) =>
  Array.from({ length: count }, (_, i) => value(i));

test("the band around a reward never leaves what the step's rewards were", () => {
  const rewards = fc.array(fc.double({ min: -3, max: 3, noNaN: true }), { minLength: 2, maxLength: 12 });
  fc.assert(
    fc.property(rewards, (values) => {
      const mean = values.reduce((sum, value) => sum + value, 0) / values.length;
      const std = Math.sqrt(
        values.reduce((sum, value) => sum + (value - mean) ** 2, 0) / (values.length - 1),
      );
      const [least, most] = [Math.min(...values), Math.max(...values)];
      const { low, high } = withinPossible([mean], [std], [least], [most]);
      assert.ok(low[0]! >= least && high[0]! <= most);
    }),
  );
});

test("an older log has no extremes: moments say that a reward of 0 or 1 is neither negative nor above 1", () => {
  const bernoulli = (p: number) => Math.sqrt(p * (1 - p));
  const means = [0.05, 0.5, 0.9];
  const { low, high } = withinPossible(means, means.map(bernoulli), [], []);
  assert.ok(low.every((value) => value! >= 0) && high.every((value) => value! <= 1));
  const wide = withinPossible([0.5, 0.5], [2, 0.1], [], []);
  assert.deepEqual(wide.high, [2.5, 0.6], "a deviation of 2 is none of values between 0 and 1");
  assert.equal(withinPossible([-0.5], [1], [], []).low[0], -1.5);
  const drawn = modelOf("reward", view({ "reward/total": [0.1, 0.2], "reward/total/std": [0.4, 0.4] }));
  assert.ok(drawn.lines[0]!.band!.low.every((value) => value! >= 0));
});

test("what is rounding is 0, on the axis and in the legend; small numbers keep their digits", () => {
  assert.deepEqual(axisRange([-4e-15, 4e-15], false), [0, 1]);
  assert.equal(formatValue(-4e-15, "number"), "0");
  const [low, high] = axisRange([0.5, 0.5 + 1e-13], false);
  assert.ok(low < 0.46 && high > 0.54, "a constant is not blown up to its last digits");
  assert.deepEqual(formatTicks([0, 5e-7, 1e-6, 1.5e-6], "number"), ["0", "5e−7", "1e−6", "1.5e−6"]);
  assert.deepEqual(formatTicks([0, 0.0005, 0.001], "number"), ["0", "0.0005", "0.001"]);
});

test("each reward term is a line, said with the weight that acts where that is known", () => {
  const plain = { "reward/total": [1, 2], "reward/total/std": [1, 1], "reward/a/errors": [0, 0] };
  const terms = { "reward/correct": [0.25, 0.5], "reward/style": [1, 0.5] };
  assert.notEqual(modelOf("terms", view(plain)).empty, null, "no chart without terms");
  const without = modelOf("terms", view({ ...plain, ...terms, "reward/style/is polite": [0, 1] }));
  assert.deepEqual(
    without.lines.map(({ name, raw }) => [name, raw]),
    [
      ["correct", [0.25, 0.5]],
      ["style", [1, 0.5]],
    ],
  );
  assert.equal(describeStep(without, 1), "step 1: correct 0.500, style 0.500");
  const weighed = view({
    ...plain,
    ...terms,
    "reward/correct/weight": [1, 1],
    "reward/style/weight": [0.7, 0.35],
  });
  assert.equal(
    describeStep(modelOf("terms", weighed), 1),
    "step 1: correct 0.500 × 1, style 0.500 × 0.350, total 2",
  );
  assert.notEqual(modelOf("criteria", weighed).empty, null, "a weight is no criterion");
  const count = 40;
  const still = { "reward/a": times(count, Math.sin), "reward/a/weight": times(count, () => 0.7) };
  assert.notEqual(modelOf("weights", view(still)).empty, null, "weights that stand still need no chart");
  const moving = modelOf("weights", view({ ...still, "reward/a/weight": times(count, (i) => 1 - i / 40) }));
  assert.equal(moving.lines[0]?.name, "a");
  assert.deepEqual(
    ["reward/correct", "reward/correct/weight", "reward/total", "reward/total/min", "eval/pass@8"].map(
      chartOf,
    ),
    ["terms", "terms", "reward", "reward", "heldOut"],
  );
});

test("the charts that say whether a run learns come first", () => {
  assert.deepEqual(
    charts.slice(0, 5).map(({ id, place }) => [id, place]),
    [
      ["terms", "learning"],
      ["heldOut", "learning"],
      ["gold", "learning"],
      ["reward", "lane"],
      ["groups", "lane"],
    ],
  );
  const heldOut = modelOf("heldOut", view({}, { "eval/pass@8": 0.5, "eval/pass@1": 0.2, "eval/tokens": 9 }));
  assert.deepEqual(
    heldOut.lines.map(({ name }) => name),
    ["pass@1", "pass@8"],
  );
});

test("what does not train is drawn beside the reward of the same held-out answers", () => {
  const trained = { "reward/total": [0, 1], "reward/judge": [0, 1] };
  const judged = { "eval/reward/total": 0.6, "eval/reward/judge": 0.6 };
  assert.notEqual(modelOf("gold", view(trained, judged)).empty, null, "no chart without gold terms");
  const gold = modelOf("gold", view(trained, { ...judged, "eval/reward/expert": 0.2 }));
  assert.deepEqual(
    gold.lines.map(({ name, values }) => [name, values.filter((value) => value !== null).at(-1)]),
    [
      ["reward", 0.6],
      ["expert", 0.2],
    ],
  );
  assert.equal(chartOf("eval/reward/expert"), "gold");
});

test("a chart in which nothing moves is a line of text", () => {
  const count = 20;
  const still = view({ "groups/drawn": times(count, () => 16), "groups/admitted": times(count, () => 16) });
  assert.equal(constants("Groups", modelOf("admission", still)), "Groups: drawn 16, trained 16");
  const noisy = view({ "update/loss": times(count, (i) => Math.sin(i) * 1e-15) });
  assert.equal(constants("Update", modelOf("update", noisy)), "Update: loss 0");
  const tiny = view({ "mismatch/k3": times(count, (i) => 1e-6 * (1 + (i % 2))) });
  assert.equal(
    constants("Divergence", modelOf("divergence", tiny)),
    "Divergence: sampler from trainer 2.0e-6",
  );
  const moved = view({ "groups/drawn": times(count, (i) => (i === 7 ? 15 : 16)) });
  assert.equal(constants("Groups", modelOf("admission", moved)), null);
  assert.equal(
    constants("Groups", modelOf("admission", view({ "groups/drawn": [16, 16] }))),
    null,
    "too early to say",
  );
  assert.equal(constants("Groups", modelOf("admission", view({}))), null);
});
