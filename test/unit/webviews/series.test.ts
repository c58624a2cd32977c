import assert from "node:assert/strict";
import { test } from "node:test";
import fc from "fast-check";
import {
  formatAge,
  formatBytes,
  formatChange,
  formatFraction,
  formatNumber,
  formatSeconds,
} from "../../../shared/lib/format.ts";
import { readPanelState } from "../../../shared/editor/panelState.ts";
import { chartOf, wantedMetric } from "../../../shared/editor/runPanel.ts";
import { charts } from "../../../webviews/run/charts.ts";
import { awaited, warmingUp } from "../../../webviews/run/models.ts";
import { secondsLeft, tiles } from "../../../webviews/run/tiles.ts";
import {
  describeStep,
  formatTicks,
  nearest,
  nameOf,
  summarize,
  tableRows,
} from "../../../webviews/shared/chartModel.ts";
import { align, broken, stack } from "../../../webviews/shared/columns.ts";
import { RunSeries } from "../../../webviews/shared/series.ts";
import { contrast, readable, withAlpha } from "../../../webviews/shared/color.ts";
import { themeKind } from "../../../webviews/shared/theme.ts";
import { evaluationsUpTo, liveStep, runAt, seriesUpTo, training, warmUp } from "../../webview/fakeRun.ts";

const loaded = (last: number): RunSeries => {
  const series = new RunSeries();
  series.load(seriesUpTo(last), 0);
  return series;
};
const viewAt = (step: number) => ({
  run: runAt(step),
  series: loaded(step),
  evaluations: evaluationsUpTo(step),
});
const modelOf = (id: string, step: number) => charts.find((chart) => chart.id === id)!.model(viewAt(step));

test("live steps continue a loaded series exactly as if all had been loaded", () => {
  const live = loaded(warmUp + 20);
  for (let step = warmUp + 21; step <= warmUp + 40; step++) live.merge(liveStep(step));
  const whole = loaded(warmUp + 40);
  for (const name of whole.names) assert.deepEqual(live.column(name), whole.column(name), name);
});

test("steps may come twice or out of order without a gap or a double", () => {
  fc.assert(
    fc.property(fc.array(fc.integer({ min: 0, max: 40 }), { maxLength: 80 }), (order) => {
      const series = new RunSeries();
      for (const step of order) series.merge({ step, attempt: 0, metrics: { m: step } });
      const { steps, values } = series.column("m");
      assert.deepEqual(
        steps,
        [...new Set(order)].sort((a, b) => a - b),
      );
      assert.deepEqual(values, steps);
    }),
  );
});

test("a resumed run replaces the tail that it trains again; what the old attempt still says is ignored", () => {
  const series = new RunSeries();
  for (let step = 0; step < 10; step++) series.merge({ step, attempt: 0, metrics: { m: step } });
  series.merge({ step: 6, attempt: 1, metrics: { m: 60 } });
  assert.deepEqual(series.column("m").steps, [0, 1, 2, 3, 4, 5, 6]);
  series.merge({ step: 9, attempt: 0, metrics: { m: 9 } });
  assert.equal(series.last, 6);
  assert.equal(series.exactly("m", 6), 60);
});

test("null is a gap, not a zero", () => {
  const series = new RunSeries();
  series.merge({ step: 0, attempt: 0, metrics: { m: 1 } });
  series.merge({ step: 1, attempt: 0, metrics: { m: null } });
  assert.equal(series.exactly("m", 1), null);
  assert.equal(series.at("m"), 1, "the last finite value");
});

test("a stack is of complete columns only", () => {
  assert.deepEqual(
    stack([
      [null, 1, 1, Number.NaN],
      [null, null, 3, 1],
      [null, 2, 2, 1],
    ]),
    [
      [null, null, 1, Number.NaN],
      [null, null, 4, Number.NaN],
      [null, null, 6, Number.NaN],
    ],
  );
  const apart = align([
    { steps: [0, 2, 4], values: [0.4, 0.4, 0.4] },
    { steps: [1, 3, 5], values: [0.6, 0.6, 0.6] },
  ]);
  assert.ok(stack(apart.values).every((tops) => tops.every((top) => top === null)));
});

test("a line passes over steps that only others have, and breaks where it has no number or long has nothing", () => {
  const steps = Array.from({ length: 60 }, (_, i) => i);
  const seldom = steps.filter((step) => step % 5 === 0);
  const gone = seldom.filter((step) => step < 20 || step >= 70 - 5).concat([90, 95, 100]);
  const { steps: axis, values } = align([
    { steps, values: steps.map((step) => (step === 7 ? null : 1)) },
    { steps: seldom, values: seldom.map(() => 2) },
    { steps: gone, values: gone.map(() => 3) },
  ]);
  const breaks = values.map((column) =>
    broken(axis, column).flatMap((value, i) => (Number.isNaN(value) ? [axis[i]] : [])),
  );
  assert.deepEqual(breaks, [[7], [], [16]]);
  assert.deepEqual(
    align([{ steps: [0, 1, 2, 3, 50, 51], values: [1, 1, 1, 1, 1, 1] }]).steps,
    [0, 1, 2, 3, 4, 50, 51],
    "a step where the line can break",
  );
});

test("columns of different steps are aligned on their union", () => {
  const { steps, values } = align([
    { steps: [0, 2], values: [1, 3] },
    { steps: [1, 2], values: [5, 6] },
  ]);
  assert.deepEqual(steps, [0, 1, 2]);
  assert.deepEqual(values, [
    [1, null, 3],
    [null, 5, 6],
  ]);
});

test("group outcomes stack to one and keep their own values for the legend", () => {
  const { lines, steps } = modelOf("groups", warmUp + 60);
  assert.deepEqual(
    lines.map(({ name }) => name),
    ["mixed", "all right", "all wrong", "no signal"],
  );
  assert.equal(lines[3]!.style, "hatch", "what teaches nothing is no error: it has no colour");
  assert.ok(Math.abs(lines[3]!.values[5]! - (1 - lines[3]!.raw[5]!)) < 1e-9, "from its edge to the top");
  for (let i = 0; i < steps.length; i++) {
    assert.ok(Math.abs(lines[2]!.values[i]! - 1) < 1e-9);
    assert.ok(Math.abs(lines[0]!.raw[i]! + lines[1]!.raw[i]! - lines[1]!.values[i]!) < 1e-9);
  }
});

test("what the update says of itself has charts: clips next to effective samples, divergences together", () => {
  const names = (id: string): string[] => modelOf(id, warmUp + 60).lines.map(({ name }) => name);
  assert.deepEqual(names("clip"), ["low", "high", "both", "effective samples"]);
  assert.deepEqual(names("divergence"), ["from the reference", "from the old policy"]);
});

test("reward has a band from p10 to p90; pass@1 its few points, with intervals", () => {
  const { lines, steps } = modelOf("reward", warmUp + 60);
  const [reward] = lines;
  const index = steps.indexOf(warmUp + 30);
  const { series } = viewAt(warmUp + 60);
  assert.equal(reward!.band!.name, "p10 to p90 of rollouts");
  assert.equal(reward!.band!.high[index], series.exactly("reward/total/p90", warmUp + 30));
  const [passed] = modelOf("heldOut", warmUp + 60).lines;
  assert.deepEqual(passed!.raw, [0.204, 0.293]);
  assert.ok(passed!.band!.low[0]! < 0.204 && passed!.band!.high[0]! > 0.204);
});

test("length has a band from p10 to p90 and its median; a run of an earlier version its mean alone", () => {
  const { lines, steps } = modelOf("length", warmUp + 60);
  const index = steps.indexOf(warmUp + 30);
  const { series } = viewAt(warmUp + 60);
  assert.deepEqual(
    lines.map(({ name, axis }) => [name, axis]),
    [
      ["mean tokens", "left"],
      ["median", "left"],
      ["truncated", "right"],
    ],
  );
  assert.equal(lines[0]!.band!.name, "p10 to p90 of rollouts");
  assert.equal(lines[0]!.band!.low[index], series.exactly("rollout/length/p10", warmUp + 30));
  assert.equal(lines[1]!.raw[index], series.exactly("rollout/length/p50", warmUp + 30));
  const earlier = new RunSeries();
  earlier.merge({ step: 0, attempt: 0, metrics: { "rollout/length": 8 } });
  const model = charts.find(({ id }) => id === "length")!.model({ ...viewAt(warmUp), series: earlier });
  assert.deepEqual(
    model.lines.map(({ name, band }) => [name, band]),
    [["mean tokens", undefined]],
  );
});

test("policy versions have a lane only where the run says which weights began its rollouts", () => {
  assert.equal(modelOf("versions", warmUp + 60).lines.length, 0);
  assert.equal(charts.find(({ id }) => id === "versions")!.optional, true, "then there is no lane");
  const stale = new RunSeries();
  for (const step of [0, 1])
    stale.merge({
      step,
      attempt: 0,
      metrics: { "rollout/staleness": 1.5 * step, "rollout/staleness/max": 4 * step },
    });
  const { lines } = charts.find(({ id }) => id === "versions")!.model({ ...viewAt(warmUp), series: stale });
  assert.deepEqual(
    lines.map(({ name, raw }) => [name, raw]),
    [
      ["updates since a rollout began", [0, 1.5]],
      ["most", [0, 4]],
    ],
  );
});

test("more arms than colours are summed into one", () => {
  const series = new RunSeries();
  const shares = Object.fromEntries(
    Array.from({ length: 9 }, (_, i) => [`curriculum/t/${i + 2}/share`, 1 / 9]),
  );
  series.merge({ step: 0, attempt: 0, metrics: shares });
  const model = charts.find(({ id }) => id === "curriculum")!.model({ ...viewAt(warmUp), series });
  assert.deepEqual(
    model.lines.map(({ name }) => name),
    ["t/2", "t/3", "t/4", "t/5", "t/6", "4 other arms"],
  );
  assert.ok(Math.abs(model.lines[5]!.raw[0]! - 4 / 9) < 1e-9);
});

test("an empty chart says what is awaited", () => {
  assert.equal(warmingUp(viewAt(39)), "Warming up: step 40 of 300, loss 1.71.");
  assert.match(modelOf("reward", 39).empty!, /^Warming up: step 40 of 300, loss .*begins\.$/);
  assert.match(
    awaited({ ...viewAt(39), run: runAt(-1, { status: "starting" }) }, "reward"),
    /process is starting/,
  );
  assert.match(
    awaited({ ...viewAt(39), run: runAt(39, { status: "failed", message: "Out of memory." }) }, "reward"),
    /the run failed before .*Out of memory/,
  );
  const origin = {
    trainer: "verl",
    version: null,
    folder: "/out",
    rollouts: 80,
    steps: 5,
    groups: "uid",
    advantages: null,
    copied: false,
  } as const;
  assert.equal(
    awaited({ ...viewAt(39), run: runAt(5, { status: "finished", origin }) }, "entropy"),
    "verl recorded no entropy.",
  );
});

test("the words for a chart say first, last, lowest and highest", () => {
  const model = modelOf("entropy", warmUp + 60);
  assert.match(
    summarize(model),
    /^nats per token: from [\d.]+ at step 300 to [\d.]+ at step 360, lowest [\d.]+ at step \d+, highest [\d.]+ at step \d+\.$/,
  );
  assert.match(
    nameOf("Entropy", "over all rollouts", model),
    /^Entropy, over all rollouts\. nats per token: from /,
  );
  assert.match(nameOf("Entropy", "", model), /^Entropy, over steps 300 to 360\. /);
  assert.match(describeStep(modelOf("reward", warmUp + 60), 45), /^step 345: reward [\d.]+$/);
  assert.match(
    describeStep(modelOf("heldOut", warmUp + 60), 1),
    /^step 340: pass@1 29 % \(22 % to 38 %\), pass@8 64 % \(/,
  );
  assert.equal(tableRows(model, 5).length, 5);
  assert.equal(tableRows(model, 5)[0]![0], "360");
});

test("the nearest step wins, at the ends too", () => {
  assert.equal(nearest([0, 40, 80], 19), 0);
  assert.equal(nearest([0, 40, 80], 21), 1);
  assert.equal(nearest([0, 40, 80], 500), 2);
  assert.equal(nearest([], 3), -1);
});

test("tiles: reward and its change, pass@1 first to last, the batch that teaches", () => {
  const shown = Object.fromEntries(tiles(viewAt(warmUp + training - 1), 0).map((tile) => [tile.label, tile]));
  assert.equal(shown["Held-out pass@1"]!.note, "20.4 % → 45.1 %");
  assert.equal(shown["Held-out pass@1"]!.tone, "good");
  assert.match(shown["Reward"]!.note, /^mean of last 10 steps, \+0\.\d+ since start$/);
  assert.match(shown["Effective batch"]!.note, /^of 256 rollouts, \d+ groups with a signal$/);
  assert.equal(shown["Errors"]!.note, "2 rollouts not scored");
});

test("time left is given for what its pace is known of", () => {
  assert.equal(secondsLeft(viewAt(39))?.of, "warm-up");
  const left = secondsLeft(viewAt(warmUp + 60));
  assert.equal(left?.of, "run");
  assert.ok(left !== null && left.seconds > 30 && left.seconds < 120);
  assert.equal(secondsLeft({ ...viewAt(warmUp + 60), run: runAt(warmUp + 60, { status: "paused" }) }), null);
});

test("numbers are written the way a person reads them", () => {
  assert.deepEqual(
    [0, 2, 0.4123, 12.34, 1234.5, 0.0012, -0.5, 2.5e7, null, Number.NaN, Number.NEGATIVE_INFINITY].map(
      formatNumber,
    ),
    ["0", "2", "0.412", "12.3", "1,235", "0.0012", "−0.500", "2.50e7", "–", "–", "−∞"],
  );
  assert.deepEqual(
    [0, 0.004, 0.5, 1].map((value) => formatFraction(value)),
    ["0 %", "0.4 %", "50 %", "100 %"],
  );
  assert.equal(formatFraction(0.388, 1), "38.8 %");
  assert.deepEqual([0.12, -0.03, 0, -1.7e-16].map(formatChange), ["+0.120", "−0.030", "±0", "±0"]);
  assert.deepEqual([0.85, 4.2, 59, 200, 900, 7_500].map(formatSeconds), [
    "850 ms",
    "4.2 s",
    "59 s",
    "3 min 20 s",
    "15 min",
    "2 h 5 min",
  ]);
  assert.deepEqual([10_000, 120_000, 7_200_000].map(formatAge), ["just now", "2 min ago", "2 h ago"]);
  assert.equal(formatBytes(1_500_000), "1.5 MB");
});

test("a state that another version left is read or refused, never trusted", () => {
  assert.deepEqual(readPanelState({ run: "a", range: [3, 9], scroll: 4, tables: ["reward", 3] }), {
    run: "a",
    range: [3, 9],
    pinned: null,
    scroll: 4,
    tables: ["reward"],
    rollout: null,
    lanes: { family: null, arm: null },
    brush: null,
  });
  assert.deepEqual(readPanelState({ run: "a", range: [9, 3] }), {
    run: "a",
    range: null,
    pinned: null,
    scroll: 0,
    tables: [],
    rollout: null,
    lanes: { family: null, arm: null },
    brush: null,
  });
  assert.equal(readPanelState({ run: "a", pinned: 7 })?.pinned, 7);
  const rollout = { step: 4, group: "g", index: 0 };
  assert.deepEqual(readPanelState({ run: "a", rollout })?.rollout, rollout);
  assert.equal(readPanelState({ run: "a", rollout: { step: 4 } })?.rollout, null);
  const brush = { by: "family", from: 2, to: 4, names: ["countdown/3"] };
  const kept = readPanelState({ run: "a", lanes: { family: "countdown/3", arm: 4 }, brush });
  assert.deepEqual(kept?.lanes, { family: "countdown/3", arm: null });
  assert.deepEqual(kept.brush, brush);
  assert.equal(readPanelState({ run: "a", brush: { ...brush, by: "step" } })?.brush, null);
  for (const bad of [null, undefined, 3, {}, { run: "" }]) assert.equal(readPanelState(bad), null);
  assert.ok(wantedMetric("curriculum/countdown/3/share") && !wantedMetric("curriculum/countdown/3/loss"));
});

test("the theme's kind follows from the body's classes; high contrast is not dark", () => {
  assert.equal(themeKind(["vscode-high-contrast", "vscode-reduce-motion"]), "high-contrast");
  assert.equal(themeKind(["vscode-high-contrast-light"]), "high-contrast-light");
  assert.equal(themeKind(["vscode-light"]), "light");
  assert.equal(withAlpha("rgb(1, 2, 3)", 0.5), "rgba(1, 2, 3, 0.5)");
  assert.equal(withAlpha("color(srgb 1 0 0.5)", 0.5), "rgba(255, 0, 128, 0.5)");
});

test("a chart colour that does not stand out is moved until it does, and others are left alone", () => {
  const [white, ink] = ["rgb(255, 255, 255)", "rgb(59, 59, 59)"];
  assert.equal(readable("rgb(101, 45, 144)", white, ink), "rgb(101, 45, 144)");
  assert.ok(contrast("rgb(209, 134, 22)", white) < 3);
  assert.ok(contrast(readable("rgb(209, 134, 22)", white, ink), white) >= 3);
  assert.equal(Math.round(contrast("rgb(0, 0, 0)", white)), 21);
});

test("ticks have as many digits as distinguish them", () => {
  assert.deepEqual(formatTicks([0, 0.2, 0.4, 1], "number"), ["0", "0.2", "0.4", "1"]);
  assert.deepEqual(formatTicks([4.532, 4.534], "number"), ["4.532", "4.534"]);
  assert.deepEqual(formatTicks([-0.02, 0, 0.02], "number"), ["−0.02", "0", "0.02"]);
  assert.deepEqual(formatTicks([0, 20, 40], "tokens"), ["0", "20", "40"]);
  assert.deepEqual(formatTicks([0, 0.5], "fraction"), ["0 %", "50 %"]);
});

test("criteria have a chart of their own, where a reward judges by them", () => {
  const view = (names: readonly string[]) => {
    const series = new RunSeries();
    series.load(
      names.map((metric) => ({ metric, steps: [0, 1], values: [0.25, 1], total: 2 })),
      0,
    );
    return { ...viewAt(warmUp + 1), series };
  };
  const chart = charts.find(({ id }) => id === "criteria")!;
  const model = (names: readonly string[]) => chart.model(view(names));
  const others = ["reward/total", "reward/total/std", "reward/style", "reward/style/errors"];
  assert.notEqual(model(others).empty, null, "no chart without criteria");
  const one = model([...others, "reward/style/is polite", `reward/style/${"long ".repeat(20)}`]);
  assert.deepEqual(
    one.lines.map(({ name, raw }) => [name, raw]),
    [
      ["is polite", [0.25, 1]],
      [`${"long ".repeat(8).slice(0, 39)}…`, [0.25, 1]],
    ],
  );
  assert.deepEqual(one.limits, [0, 1]);
  assert.deepEqual(
    model(["reward/style/is polite", "reward/facts/is true"]).lines.map(({ name }) => name),
    ["facts: is true", "style: is polite"],
  );
  assert.equal(chartOf("reward/style/is polite"), "criteria");
  assert.equal(chartOf("reward/style/errors"), "reward");
  assert.equal(chartOf("reward/total/std"), "reward");
});
