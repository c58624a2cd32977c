import assert from "node:assert/strict";
import { test } from "node:test";
import { columnOf } from "../../../server/algorithm/rewards/rewards.ts";
import { describeCriteria, detailsOf } from "../../../server/algorithm/rewards/criteria.ts";
import { joinColumns, selectColumn } from "../../../server/run/step/score/rewardColumns.ts";
import type { TermValue } from "../../../server/core/slots/reward.ts";
import type { JudgedCriterion, Met } from "../../../shared/rollouts/criteria.ts";
import { metricNamed } from "../../../shared/metrics/metrics.ts";
import { batchOf, row } from "../support.ts";

const one = (text: string, met: Met, name?: string): JudgedCriterion => ({
  ...(name === undefined ? {} : { name }),
  text,
  points: 1,
  met,
});
const paid = (...criteria: JudgedCriterion[]): TermValue => ({ kind: "value", value: 1, criteria });
const batch = (groups: readonly string[]) => batchOf(groups.map((group, index) => row(group, index)));

test("a criterion that groups share has a metric: how far it is met where that is known", () => {
  const groups = batch(["a", "a", "b", "b"]);
  const column = columnOf(
    "style",
    [
      paid(one("is polite\nand  kind", 1), one("own of a", 1), one("errors", 0)),
      { kind: "error", message: "no verdict", criteria: [one("is polite\nand  kind", null)] },
      paid(one("is polite\nand  kind", 0.5), one("long text", 1, "short"), one("errors", 1)),
      { kind: "none" },
    ],
    groups,
  );
  assert.deepEqual(describeCriteria([column], groups), {
    "reward/style/is polite and kind": 0.75,
    "reward/style/errors (criterion)": 0.5,
  });
  const numbers = columnOf(
    "length",
    [1, 2, 3, 4].map((value) => ({ kind: "value", value })),
    groups,
  );
  assert.deepEqual(describeCriteria([numbers], groups), {});
});

test("tasks' own criteria make no metrics, and there are at most 16 of a term", () => {
  const names = Array.from({ length: 40 }, (_, k) => `g${k >> 1}`);
  const groups = batch(names);
  const own = columnOf(
    "style",
    names.map((name) => paid(one(name, 1))),
    groups,
  );
  assert.deepEqual(describeCriteria([own], groups), {});
  const rare = columnOf(
    "style",
    names.map((_, k) => paid(one(k < 8 ? "rare" : `${k}`, 1))),
    groups,
  );
  assert.deepEqual(describeCriteria([rare], groups), {}, "four of twenty groups are less than a quarter");
  const many = columnOf(
    "style",
    names.map(() => paid(...Array.from({ length: 30 }, (_, k) => one(`criterion ${k}`, 0)))),
    groups,
  );
  assert.equal(Object.keys(describeCriteria([many], groups)).length, 16);
});

test("a metric of a criterion is known as such, and its neighbours as what they are", () => {
  assert.equal(metricNamed("reward/style/is polite")?.name, "reward/<term>/<criterion>");
  assert.equal(metricNamed("reward/style/errors")?.name, "reward/<term>/errors");
  assert.equal(metricNamed("reward/style")?.name, "reward/<term>");
  for (const part of ["std", "min", "max"])
    assert.equal(metricNamed(`reward/total/${part}`)?.name, `reward/total/${part}`);
});

test("verdicts stay with their rows when rows are chosen and rounds are joined", () => {
  const groups = batch(["a", "a", "a"]);
  const column = columnOf(
    "style",
    [paid(one("x", 0)), { kind: "value", value: 2 }, paid(one("x", 1))],
    groups,
  );
  const chosen = selectColumn(column, [2, 1]);
  assert.deepEqual(detailsOf([chosen], 0), { details: { style: { criteria: [one("x", 1)] } } });
  assert.deepEqual(detailsOf([chosen], 1), {});
  const [joined] = joinColumns([[chosen], [column]]);
  assert.deepEqual([...joined!.criteria!.keys()], [0, 2, 4]);
});

test("a value that is refused keeps what was said of it", () => {
  const groups = batch(["a"]);
  const column = columnOf("style", [{ kind: "value", value: Number.NaN, criteria: [one("x", 1)] }], groups);
  assert.match(column.errors.get(0)!, /not finite/);
  assert.deepEqual(detailsOf([column], 0).details?.["style"]?.criteria, [one("x", 1)]);
});
