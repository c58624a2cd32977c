/** Many groups on the page that compares runs: which are told apart, and how. */
import assert from "node:assert/strict";
import { test } from "node:test";
import type { Comparison, HeldOutDifference } from "../../../shared/run/comparison.ts";
import { groupText } from "../../../shared/run/comparisonText.ts";
import { groupOrder, leadingGroups, styleOf } from "../../../webviews/compare/leading.ts";

const passed = (group: number, after: number): HeldOutDifference => ({
  metric: "eval/pass@1",
  group,
  before: 0.3,
  after,
  difference: after - 0.3,
  low: 0,
  high: 0,
  tasks: 64,
  method: "paired",
  reason: null,
});
const comparing = (groups: number, changes: Partial<Comparison> = {}): Comparison => ({
  runs: [],
  groups: Array.from({ length: groups }, (_, at) => ({ label: `group ${at}`, runs: [at] })),
  sources: [],
  config: [],
  series: [],
  heldOut: [],
  arms: [],
  notes: [],
  ...changes,
});

test("up to twelve groups are told apart, each by another pair of colour and dash", () => {
  const found = comparing(12);
  assert.deepEqual(leadingGroups(found), groupOrder(found));
  const pairs = leadingGroups(found).map((at, _, all) => JSON.stringify(styleOf(all, at)));
  assert.equal(new Set(pairs).size, 12);
});

test("of more the first and the best are: by held-out pass@1, else by reward", () => {
  const heldOut = Array.from({ length: 39 }, (_, i) => passed(i + 1, ((i + 1) * 7) % 40));
  const found = comparing(40, { heldOut });
  assert.deepEqual(leadingGroups(found), [0, 17, 34, 11, 28, 5, 22, 39]);
  assert.equal(styleOf(leadingGroups(found), 1), null);
  assert.equal(new Set(groupOrder(found)).size, 40);
  const groups = Array.from({ length: 40 }, (_, group) => ({
    group,
    steps: [0, 1],
    n: [1, 1],
    mean: [100 - group, group === 7 ? null : group],
    spread: [null, null],
    error: [null, null],
  }));
  const byReward = comparing(40, { series: [{ metric: "reward/total", groups }] });
  assert.deepEqual(leadingGroups(byReward).slice(0, 4), [0, 7, 39, 38], "the last value that is known");
});

test("seeds of a group: each, or the first and the last where none between them is left out", () => {
  const run = (seed: number) => ({ id: "", name: "", label: "", seed, group: 0, step: 0, sources: true });
  const said = (...seeds: readonly number[]): string =>
    groupText({ label: "", runs: seeds.map((_, at) => at) }, seeds.map(run));
  assert.equal(said(1, 2, 3), "3 runs, seeds 1, 2, 3");
  assert.equal(said(4, 1, 3, 2), "4 runs, seeds 1 to 4");
  assert.equal(said(1, 1, 2, 2), "4 runs, seeds 1, 2");
  assert.equal(said(1, 2, 3, 5), "4 runs, seeds 1, 2, 3, 5");
});
