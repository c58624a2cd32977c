import assert from "node:assert/strict";
import { test } from "node:test";
import type { VerdictRecord } from "../../../../server/analysis/verdict/record.ts";
import { Timeline } from "../../../../server/analysis/verdict/timeline.ts";
import { isAlarm } from "../../../../shared/run/verdict.ts";
import {
  chance,
  config,
  evaluation,
  level,
  ramp,
  recordOf,
  sound,
  states,
  timelineOf,
  verdict,
  type Sketch,
} from "./support.ts";

const rising = [
  evaluation(-1, chance(0.15)),
  ...[19, 39, 59, 79, 99].map((s, i) => evaluation(s, chance(0.18 + 0.05 * i, i))),
];
const level15 = [-1, 19, 39, 59, 79, 99].map((step, i) => evaluation(step, chance(0.15, i)));
const falling = [
  evaluation(-1, chance(0.15)),
  ...[19, 39, 59, 79, 99].map((s, i) => evaluation(s, chance(Math.max(0, 0.15 - 0.05 * i), i))),
];

const learning: Sketch = { metrics: sound, evaluations: rising };
const collapse: Sketch = {
  metrics: {
    ...sound,
    "reward/total": ramp(0.2, 0.09, [30, 60]),
    "reward/correct": ramp(0.15, 0, [30, 60]),
    "reward/brevity": ramp(0.5, 0.95, [30, 60]),
    "groups/success_rate": ramp(0.15, 0, [30, 60], 0.005),
    "groups/all_wrong": ramp(0.4, 1, [30, 60]),
  },
  evaluations: falling,
};
const hacked: Sketch = {
  metrics: {
    ...sound,
    "reward/total": ramp(0.2, 0.3, [20, 60]),
    "reward/correct": level(0.15),
    "reward/brevity": ramp(0.2, 1, [20, 60]),
    "groups/success_rate": level(0.15),
  },
  evaluations: level15,
};
const starved: Sketch = {
  metrics: {
    ...sound,
    "groups/zero_advantage": ramp(0.4, 0.98, [20, 40]),
    "groups/all_wrong": ramp(0.4, 0.98, [20, 40]),
  },
  evaluations: level15,
};
const throwing: Sketch = {
  metrics: { ...sound, "reward/correct/errors": (step) => (step >= 40 ? 200 : 3) },
  evaluations: level15,
};
const noisy: Sketch = {
  metrics: { ...sound, "policy/entropy": ramp(1, 3.5, [20, 50]) },
  evaluations: level15,
};
const broken: Sketch = {
  metrics: { ...sound, "update/loss": (step) => (step >= 50 ? Number.NaN : 0.1) },
  evaluations: level15,
};

test("each way to fail has its state, with the step at which it began", () => {
  const found = Object.entries({ collapse, hacked, starved, throwing, noisy, broken }).map(
    ([name, sketch]) => {
      const { state, since, label } = verdict(sketch);
      return [name, state, since, label] as const;
    },
  );
  assert.deepEqual(
    found.map(([name, state]) => [name, state]),
    [
      ["collapse", "collapsed"],
      ["hacked", "hacking"],
      ["starved", "starved"],
      ["throwing", "failing"],
      ["noisy", "unstable"],
      ["broken", "unstable"],
    ],
  );
  const since = Object.fromEntries(found.map(([name, , step]) => [name, step]));
  for (const [name, low, high] of [
    ["collapse", 20, 55],
    ["hacked", 20, 50],
    ["starved", 20, 45],
    ["throwing", 30, 50],
    ["noisy", 15, 45],
    ["broken", 40, 60],
  ] as const)
    assert.ok(since[name]! >= low && since[name]! <= high, `${name} since ${since[name]}`);
  assert.equal(verdict(hacked).label, "hacking `brevity`");
});

test("a run that learns goes from too early to learning, and raises no alarm", () => {
  const seen = states(recordOf(learning));
  assert.equal(seen[0], "too early");
  assert.equal(seen.at(-1), "learning");
  assert.ok(!seen.some(isAlarm));
});

test("without an effect it is flat where enough tasks show it, else it cannot be told", () => {
  const same = [-1, 19, 39, 59, 79, 99].map((step) => evaluation(step, chance(0.15)));
  assert.equal(verdict({ metrics: sound, evaluations: same }).state, "flat");
  const one = verdict({ metrics: sound, evaluations: level15 });
  assert.ok(["flat", "cannot tell"].includes(one.state), one.state);
  assert.equal(verdict({ metrics: sound, record: { steps: 200 } }).state, "too early");
  const none = verdict({ metrics: sound, config: { ...config, evaluation: {} }, record: { imported: true } });
  assert.equal(none.state, "cannot tell");
  assert.match(none.headline, /training reward rises, and there is no held-out score/);
});

test("healthy runs near each alarm raise none", () => {
  const near: Readonly<Record<string, Sketch>> = {
    "a reward term rises with success": {
      metrics: { ...sound, "reward/brevity": ramp(0.2, 1, [20, 60]) },
      evaluations: rising,
    },
    "successes fall as a curriculum turns to harder tasks": {
      metrics: { ...sound, "groups/success_rate": ramp(0.5, 0.15, [20, 60]) },
      evaluations: rising,
      config: { ...config, curriculum: { sampler: { use: "boltzmann" } } },
    },
    "most groups are all right in the end": {
      metrics: {
        ...sound,
        "groups/all_right": ramp(0.05, 0.97, [0, 80]),
        "groups/zero_advantage": ramp(0.4, 0.97, [0, 80]),
      },
      evaluations: rising,
    },
    "filtered groups are made up for": {
      metrics: { ...sound, "groups/zero_advantage": level(0.92), "groups/drawn": () => 300 },
      evaluations: rising,
    },
    "a few steps without a loss": {
      metrics: { ...sound, "update/loss": (step) => (step % 10 === 0 ? Number.NaN : 0.1) },
      evaluations: rising,
    },
    "some rewards fail": {
      metrics: { ...sound, "reward/correct/errors": () => 100 },
      evaluations: rising,
    },
    "the entropy rises a little": {
      metrics: { ...sound, "policy/entropy": ramp(1, 1.8, [0, 100]) },
      evaluations: rising,
    },
    "for nine steps nothing has an advantage": {
      metrics: { ...sound, "groups/zero_advantage": (step) => (step >= 40 && step < 49 ? 1 : 0.4) },
      evaluations: rising,
    },
  };
  for (const [name, sketch] of Object.entries(near))
    assert.deepEqual(states(recordOf(sketch)).filter(isAlarm), [], name);
});

const prefix = (record: VerdictRecord, to: number): VerdictRecord => ({
  ...record,
  step: to,
  evaluations: record.evaluations.filter(({ step }) => step <= to),
  series: Object.fromEntries(
    Object.entries(record.series).map(([name, { steps, values }]) => {
      const count = steps.filter((step) => step <= to).length;
      return [name, { steps: steps.slice(0, count), values: values.slice(0, count) }];
    }),
  ),
});

test("the verdict at a step reads nothing later: of every prefix it is the same", () => {
  for (const sketch of [learning, collapse, hacked, starved, throwing, noisy, broken]) {
    const record = recordOf(sketch);
    const { spans } = timelineOf(record);
    for (let to = 0; to < 100; to++) {
      const part = timelineOf(prefix(record, to)).spans;
      const cut = spans.filter(({ from }) => from <= to);
      assert.deepEqual(
        part.map(({ finding, from }) => [finding.state, finding.term, from]),
        cut.map(({ finding, from }) => [finding.state, finding.term, from]),
        `step ${to}`,
      );
    }
  }
});

test("a timeline that goes on with what is recorded later is that of the whole", () => {
  for (const sketch of [learning, collapse, starved]) {
    const record = recordOf(sketch);
    const grown = new Timeline(record);
    for (let from = 0; from < 100; from += 7) {
      const to = Math.min(99, from + 6);
      const { series, evaluations } = prefix(record, to);
      const later = Object.fromEntries(
        Object.entries(series).map(([name, { steps, values }]) => [
          name,
          { steps: steps.slice(from), values: values.slice(from) },
        ]),
      );
      grown.extend({ series: later, evaluations, stages: record.stages });
    }
    assert.deepEqual(grown.spans, timelineOf(record).spans);
  }
});

test("a run of many thousand steps is held in little", () => {
  const steps = 30_000;
  const record = recordOf({ ...collapse, steps });
  const { spans, moment } = timelineOf(record);
  assert.equal(spans.at(-1)?.finding.state, "collapsed");
  assert.equal(moment.count, steps);
  assert.ok(moment.trail("reward/total").begin > steps - 10_000);
});

test("nothing is too early to say of a run that has ended, and the sentence says what it lacks", () => {
  const told = (sketch: Sketch, ended: boolean) => verdict({ ...sketch, record: { ended } });
  const few: Sketch = { metrics: sound, steps: 5 };
  assert.equal(told(few, false)?.state, "too early");
  assert.deepEqual(
    [told(few, true)?.state, told(few, true)?.headline],
    ["cannot tell", "Cannot tell: 5 steps have metrics, and trends show from 10 on."],
  );
  const once: Sketch = { metrics: sound, steps: 15, evaluations: rising.slice(0, 1), record: { steps: 100 } };
  assert.match(
    told(once, true)?.headline ?? "",
    /^Cannot tell: the training reward .*, and held-out tasks were evaluated before training alone\.$/,
  );
  assert.deepEqual(told(once, true)?.timeline.at(-1)?.state, "cannot tell");
});

test("a term that fails is the cause", () => {
  const metrics = { ...sound, "reward/brevity/errors": () => 200 };
  const { state, cause } = verdict({ metrics }) ?? {};
  assert.deepEqual([state, cause?.term, cause?.shown], ["failing", "brevity", true]);
});
