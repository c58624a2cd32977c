/** The panel as a story: which lanes come first, what happened when, over what a curve is, what runs along a chart. */
import assert from "node:assert/strict";
import { test } from "node:test";
import { charts } from "../../../webviews/run/charts.ts";
import { found } from "../../../webviews/run/metrics/search.ts";
import { populationOf } from "../../../webviews/run/populations.ts";
import { clusters, eventRows } from "../../../webviews/run/timeline/events.ts";
import { information, movement } from "../../../webviews/run/timeline/information.ts";
import { scaleOf } from "../../../webviews/run/timeline/scale.ts";
import { kindsOf, xAxisOf } from "../../../webviews/run/timeline/xAxes.ts";
import { axisRange } from "../../../webviews/shared/axis.ts";
import { RunSeries } from "../../../webviews/shared/series.ts";
import { ticksOf } from "../../../webviews/shared/xAxis.ts";
import { evaluationsUpTo, runAt, verdict, warmUp } from "../../webview/fakeRun.ts";
import { noiseAt } from "../../webview/longRun.ts";

const count = 200;
const view = (metrics: Readonly<Record<string, (step: number) => number>>) => {
  const series = new RunSeries();
  const steps = Array.from({ length: count }, (_, step) => step);
  series.load(
    Object.entries(metrics).map(([metric, at]) => ({ metric, steps, values: steps.map(at), total: count })),
    0,
  );
  return { run: runAt(count - 1), series, evaluations: evaluationsUpTo(warmUp + 119) };
};
const modelOf = (id: string, shown: ReturnType<typeof view>) =>
  charts.find((chart) => chart.id === id)!.model(shown);

test("a lane in which the run moves tells more than one of noise, and a spike is no movement", () => {
  const entropies = {
    noise: (step: number) => 1 + 0.1 * noiseAt(step),
    falling: (step: number) => 2 - step / 150 + 0.1 * noiseAt(step),
    spike: (step: number) => (step === 77 ? 9 : 1 + 0.1 * noiseAt(step)),
  };
  const told = Object.entries(entropies).map(([name, at]) => [
    name,
    information(modelOf("entropy", view({ "policy/entropy": at })), [0, count - 1]),
  ]);
  const by = Object.fromEntries(told) as Record<keyof typeof entropies, number>;
  assert.ok(by.falling > by.noise + 2 && by.falling > by.spike + 2, JSON.stringify(by));
  assert.equal(movement([1, 2, 3]), 0, "too few to say");
  const tiny = movement(
    Array.from({ length: count }, (_, i) => 1e-6 * i),
    0.001,
  );
  assert.ok(tiny < 1, "what its axis does not even show has not moved");
});

test("an axis spans at least what its metric's size asks for: rounding and noise stay flat", () => {
  assert.deepEqual(axisRange([1e-6, 2e-6], false, 0.001), [0, 0.001]);
  const [low, high] = axisRange([3.0, 3.001], false, 0.05);
  assert.ok(Math.abs(high - low - 0.05) < 1e-12 && low < 3 && high > 3.001);
  assert.deepEqual(axisRange([0.2, 0.6], true), [0, 0.6 + 0.6 * 0.08]);
  const [bottom, top] = axisRange([-0.5, 0.5], true);
  assert.ok(bottom < -0.5 && top > 0.5, "terms that take away reach below 0");
});

test("reward terms add up with their weights, those that take away downwards", () => {
  const { lines } = modelOf(
    "terms",
    view({
      "reward/a": () => 0.5,
      "reward/a/weight": () => 2,
      "reward/b": () => 0.4,
      "reward/b/weight": () => 0.5,
      "reward/c": () => 1,
      "reward/c/weight": () => -0.3,
      "reward/total": () => 0.9,
    }),
  );
  assert.deepEqual(
    lines.map(({ name, style, values }) => [name, style, Number(values[7]!.toFixed(6))]),
    [
      ["c", "area", -0.3],
      ["a", "area", 1],
      ["b", "area", 1.2],
      ["total", "line", 0.9],
    ],
  );
  const unknown = modelOf("terms", view({ "reward/a": () => 0.5, "reward/b": () => 0.4 }));
  assert.deepEqual(
    unknown.lines.map(({ style }) => style),
    ["line", "line"],
    "without weights nothing is added up",
  );
});

test("terms that multiply are not stacked: lines, and the total among them", () => {
  const { lines } = modelOf(
    "terms",
    view({
      "reward/correct": () => 0.1,
      "reward/correct/weight": () => 1,
      "reward/brief": () => 0.8,
      "reward/brief/weight": () => 1,
      "reward/total": () => 0.08,
    }),
  );
  assert.deepEqual(
    lines.map(({ name, style, values }) => [name, style, values[7]]),
    [
      ["brief", "line", 0.8],
      ["correct", "line", 0.1],
      ["total", "line", 0.08],
    ],
  );
});

test("the timeline's rows: what there is of verdicts, warnings, settings, evaluations, checkpoints and attempts", () => {
  const shown = {
    ...view({}),
    events: [
      { step: 4, severity: "warning" as const, message: "slow" },
      { step: 5, severity: "info" as const, message: "started" },
      { step: 60, severity: "info" as const, message: "lr is 1e-4 from step 60 on.", setting: true },
    ],
    verdict,
  };
  const rows = eventRows({ ...shown, run: { ...shown.run, attempts: [{ attempt: 1, from: 50 }] } });
  assert.deepEqual(
    rows.map(({ kind, events }) => [kind, events.map(({ step }) => step)]),
    [
      ["verdicts", [300, 331, 352]],
      ["alarms", [4]],
      ["settings", [60]],
      ["evaluations", [300, 340, 380, 419]],
      ["checkpoints", [50, 150]],
      ["attempts", [50]],
    ],
  );
  assert.equal(rows[0]!.events[2]!.text, "alarm: hacking brevity");
  assert.deepEqual(
    rows[0]!.events.map(({ mark, alarm }) => [mark, alarm]),
    [
      ["…", false],
      ["✔", false],
      ["✖", true],
    ],
  );
  const near = clusters(
    [1, 2, 30, 31, 32, 90].map((step) => ({ step, text: "" })),
    (step) => step,
  );
  assert.deepEqual(
    near.map(({ events }) => events.length),
    [2, 3, 1],
  );
});

test("a curve says over what it is; a filtered one says why it may look flat", () => {
  const some = view({
    "groups/drawn": () => 16,
    "groups/admitted": (step) => (step < 100 ? 16 : 9),
    "rollout/count": () => 128,
    "rollout/scored": (step) => (step === 3 ? 120 : 128),
  });
  assert.equal(populationOf("all", some, null).text, "all · 128 rollouts");
  assert.equal(populationOf("all", some, 3).text, "all · 120 of 128 rollouts");
  assert.match(populationOf("all", some, 3).why, /not 0, they are missing/);
  const late = populationOf("admitted", some, null);
  assert.equal(late.text, "admitted · 9 of 16 groups");
  assert.match(late.why, /7 groups of the step were left out.*may look flat/);
  assert.doesNotMatch(populationOf("admitted", some, 50).why, /flat/, "where nothing is left out");
  assert.equal(populationOf("held-out", some, null).text, "held-out · 128 tasks");
  const origin = { trainer: "verl", version: null, folder: "/o", rollouts: 8, steps: 2 } as const;
  const imported = {
    ...some,
    run: runAt(9, { origin: { ...origin, groups: "uid", advantages: null, copied: false } }),
  };
  assert.match(populationOf("all", imported, null).why, /DAPO.*may look flat/);
});

test("an axis by tokens, time or samples leads from steps and back", () => {
  const { series } = view({ "tokens/generated": (step) => 100 + step, "time/total": () => 2 });
  assert.deepEqual(kindsOf(series), ["step", "time", "tokens"]);
  const tokens = xAxisOf("tokens", series);
  assert.deepEqual(
    [0, 1, 2].map((step) => tokens.of(step)),
    [100, 201, 303],
  );
  for (const step of [0, 0.5, 17, 199, 240]) assert.ok(Math.abs(tokens.at(tokens.of(step)) - step) < 1e-6);
  assert.equal(xAxisOf("time", series).of(9), 20);
  assert.equal(xAxisOf("samples", series).name, "step", "not recorded");
  assert.deepEqual(ticksOf(300, 384, 6), [300, 320, 340, 360, 380]);
  assert.deepEqual(ticksOf(0, 1.2, 4), [0, 0.5, 1]);
  assert.deepEqual(ticksOf(1, 5, 12, 1), [1, 2, 3, 4, 5], "no half steps");
});

test("log where all values are above 0, else symlog with a threshold; areas and shares stay linear", () => {
  const { apply } = scaleOf("log");
  const entropy = (at: (step: number) => number) => modelOf("entropy", view({ "policy/entropy": at }));
  assert.deepEqual(apply(entropy((step) => 1 + step)).scale, { kind: "log" });
  assert.deepEqual(apply(entropy((step) => step - 4)).scale, { kind: "symlog", linear: 0.1 });
  const shares = view({
    "groups/all_right": () => 0.5,
    "groups/mixed": () => 0.25,
    "groups/all_wrong": () => 0.25,
  });
  assert.equal(apply(modelOf("groups", shares)).scale, undefined);
});

test("among 20,000 names a search finds those with all of its words", () => {
  const names = Array.from({ length: 20_000 }, (_, i) => `layer_${i}/grad/${i % 2 === 0 ? "norm" : "max"}`);
  assert.equal(found(names, "norm layer_777").length, 5);
  assert.equal(found(names, "").length, 20_000);
  assert.deepEqual(found(["a/kl", "kl/a", "x"], "KL"), ["kl/a", "a/kl"]);
});
