/** The expressions by which runs are found and sorted. */
import assert from "node:assert/strict";
import { test } from "node:test";
import { compileRunWhere, runKey, type RunView } from "../../../../server/analysis/compare/runWhere.ts";

const series: Readonly<Record<string, readonly number[]>> = {
  "reward/total": [0.1, 0.9, Number.NaN, 0.5],
  "eval/pass@1": [0.2, 0.4],
  "eval/countdown/3/pass@1": [0.3],
};
const run: RunView = {
  fields: {
    id: "sums-20260101-000000-aaaa",
    name: "sums",
    status: "finished",
    verdict: "collapsed",
    note: "the one with the weight",
    file: "/p/sums.gradus.yaml",
    stage: null,
    backend: "native",
    parent: null,
    seed: 2,
    step: 99,
    steps: 100,
    age: 3 * 86_400,
    duration: 600,
    pinned: false,
    archived: false,
  },
  tags: ["paper", "good"],
  config: () => ({
    rollout: { group: 8 },
    tasks: [
      { name: "countdown/3", weight: 2 },
      { name: "easy", weight: 1 },
    ],
    objective: { use: "clipped", low: 0.2 },
    evaluation: { pass_at: [1, 8] },
    kl: [],
    engine: { memory: null },
  }),
  metric: (name) => series[name] ?? [],
};

test("what holds of a run", () => {
  const holds = [
    "reward/mean@last > 0.4 and config.rollout.group >= 8",
    "reward/total == 0.5",
    "reward/mean@first == 0.1 && reward/mean@max == 0.9 && reward/mean@min == 0.1 && reward/mean@mean == 0.5",
    "critic/score/mean@last == 0.5",
    "eval/pass@1 == 0.4 and eval/pass@1@first == 0.2",
    "eval/countdown/3/pass@1 > 0.2",
    "not reward/correct > 0",
    "reward/correct == null and reward/total != null",
    'status == "finished" and (verdict == "collapsed" or verdict == "flat")',
    'tag == "paper" and tag != "bad" and tag ~ "^go+d$"',
    'name ~ "^su" && !(name ~ "^um")',
    'note contains "weight"',
    "age < 4d and age > 70h and duration <= 10min and duration < 1 h",
    'config.objective == "clipped" and config.objective.low == 0.2',
    'config.tasks."countdown/3".weight == 2 and config.tasks.easy.weight == 1',
    "config.evaluation.pass_at contains '8'",
    "config.kl == null and config.engine.memory == null and config.nothing == null",
    "stage == null and seed == 2 and pinned == false",
    'config.rollout.group != "8"',
  ];
  for (const where of holds) {
    assert.equal(compileRunWhere(where)(run), true, where);
    assert.equal(compileRunWhere(`not (${where})`)(run), false, where);
  }
});

test("what is wrong is named with its place", () => {
  const cases: readonly (readonly [string, RegExp])[] = [
    ["rewrd > 1", /"rewrd > 1" at character 1 is unknown/],
    ['statu == "failed"', /character 1 is unknown; did you mean `status`/],
    ['status == "failed" and wher == 1', /"wher == 1" at character 24 is unknown/],
    ["status == 1", /"1" at character 11 should be text in quotes, like status/],
    ['reward/mean@last > "x"', /character 20 should be a number, like reward\/mean@last/],
    ["age < 3", /"3" at character 7 needs a unit: 30min, 12h, 7d or 2w/],
    ['name ~ "("', /character 8 is not a regular expression/],
    ["config.rollout.group >=", /the end of the expression/],
    ["reward/mean ? 1", /"\? 1" at character 13 is not understood/],
    ["pinned == 1", /true or false, like pinned/],
    ["seed == 1 seed == 2", /character 11 is not expected here; join conditions/],
    ['tag > "a"', /works only on numbers/],
  ];
  for (const [where, message] of cases) assert.throws(() => compileRunWhere(where), message, where);
  assert.throws(
    () => compileRunWhere("x == 1"),
    (error: { detail?: { action?: string } }) => /reward\/mean@last > 0\.4/.test(error.detail?.action ?? ""),
  );
});

test("what runs are sorted by", () => {
  assert.equal(runKey("reward/mean@max")(run), 0.9);
  assert.equal(runKey("config.objective")(run), "clipped");
  assert.equal(runKey("age")(run), 259_200);
  assert.equal(runKey("reward/correct")(run), undefined);
  assert.throws(() => runKey("reward/mean > 1"), /not expected here/);
  assert.throws(() => runKey("tag"), /cannot be sorted by/);
});
