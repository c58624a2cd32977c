/** Runs as a table, and next to each other, as text. */
import assert from "node:assert/strict";
import { test } from "node:test";
import { comparisonLines } from "../../../server/cli/text/comparisonText.ts";
import { runTable } from "../../../server/cli/text/runTable.ts";
import type { RunSummary } from "../../../shared/protocol/protocol.ts";
import type { Comparison } from "../../../shared/run/comparison.ts";

const run = (id: string, more: Partial<RunSummary> = {}): RunSummary => ({
  id,
  name: "countdown-sec",
  file: "/p/countdown-sec.gradus.yaml",
  status: "finished",
  message: null,
  attempt: 0,
  step: 419,
  steps: 420,
  stage: "train",
  startedAt: "2026-01-02T10:00:00",
  endedAt: "2026-01-02T10:06:10",
  backend: "native",
  headline: { "reward/total": 0.0981 },
  first: { "eval/pass@1": 0.023 },
  last: { "eval/pass@1": 0 },
  spark: [0.03, 0.05, 0.1],
  ...more,
});
const runs = [
  run("countdown-sec-20260102-100000-1f2e", {
    verdict: {
      state: "collapsed",
      label: "collapsed at 318",
      since: 318,
      headline: "Collapsed at step 318.",
    },
    label: "lr 3e-6 · seed 2",
    parent: { run: "countdown-sec-20260101-100000-aaaa", step: 59 },
    tags: ["paper"],
    pinned: true,
  }),
  run("countdown-sec-20250102-100000-ab01", {
    startedAt: "2025-01-02T10:00:00",
    endedAt: null,
    status: "running",
    spark: [],
    headline: {},
  }),
];
const now = Date.parse("2026-01-02T12:00:00");
const widest = (lines: readonly string[]): number =>
  Math.max(
    ...lines
      .join("\n")
      .split("\n")
      .map((line) => [...line].length),
  );

test("a line a run with dates, durations, results and the verdict where lines may be long", () => {
  assert.deepEqual(runTable(runs, undefined, now), [
    "RUN                                 STATUS        STEPS  STARTED        TOOK  PASS@1       REWARD     VERDICT             DIFFERS IN",
    "countdown-sec-20260102-100000-1f2e  finished *  420/420  Jan 02 10:00  6 min  2.3 → 0.0 %  ▁▃█ 0.098  ✖ collapsed at 318  fork of aaaa at 59 · lr 3e-6 · seed 2 · #paper",
    "countdown-sec-20250102-100000-ab01  running     420/420  Jan 02 2025   365 d  2.3 → 0.0 %",
  ]);
});

test("80 columns hold all of it, on two lines a run", () => {
  const lines = runTable(runs, 80, now);
  assert.ok(widest(lines) <= 80, lines.join("\n"));
  assert.match(lines[1]!, /^countdown-sec 1f2e {2}finished \*/);
  assert.match(lines[2]!, /^ {2}▁▃█ 0\.098 {2}✖ collapsed at 318 {2}fork of aaaa at 59/);
});

const found: Comparison = {
  runs: [
    { id: "a", name: "sums", label: "sums", seed: 1, group: 0, step: 9, sources: true },
    { id: "b", name: "sums", label: "seed 2", seed: 2, group: 0, step: 9, sources: true },
    { id: "c", name: "sums", label: "lr 3e-6", seed: 1, group: 1, step: 9, sources: true },
  ],
  groups: [
    { label: "sums", runs: [0, 1] },
    { label: "lr 3e-6", runs: [2] },
  ],
  sources: [
    { kind: "reward", name: "rewards/a.ts", values: ["aaaaaaaaaaaa", "aaaaaaaaaaaa", "bbbbbbbbbbbb"] },
  ],
  config: [
    {
      path: "update.optimizer.lr",
      values: [
        { value: 1e-5, by: "default" },
        { value: 1e-5, by: "default" },
        { value: 3e-6, by: "file" },
      ],
    },
    {
      path: "rollout.group",
      values: [{ value: 8, by: "file" }, { value: 8, by: "file" }, { by: "default" }],
    },
  ],
  series: [
    {
      metric: "reward/total",
      groups: [
        { group: 0, steps: [0, 1], n: [2, 2], mean: [0.1, 0.4], spread: [0.1, 0.1], error: [0.05, 0.05] },
        { group: 1, steps: [0], n: [1], mean: [0.2], spread: [null], error: [null] },
      ],
    },
  ],
  heldOut: [
    {
      metric: "eval/pass@1",
      group: 1,
      before: 0.21,
      after: 0.242,
      difference: 0.032,
      low: -0.01,
      high: 0.074,
      tasks: 512,
      method: "unpaired",
      reason: "they were asked other tasks",
    },
  ],
  arms: [
    { arm: "countdown/3", values: [0.5, null] },
    { arm: "countdown/4", values: [0.25, 0.3] },
  ],
  notes: ["1 group of 2 has one seed: the difference may be that of the seeds."],
};

test("a comparison in 80 columns: sources, configs, results with intervals, arms, courses, limits", () => {
  const lines = comparisonLines(found, 80);
  assert.ok(widest(lines) <= 80);
  const text = lines.join("\n");
  const order = [
    "A  sums",
    "rewards/a.ts",
    "update.optimizer.lr",
    "No difference of B",
    "countdown/4",
    "reward/total",
    "Note:",
  ];
  const places = order.map((part) => text.indexOf(part));
  assert.ok(
    places.every((place, at) => place >= 0 && place > (places[at - 1] ?? -1)),
    text,
  );
  assert.match(text, /^ {4}A {2}1e-5 \(default\)\n {4}B {2}3e-6$/m);
  assert.match(text, /^ {4}B {2}not there$/m);
  assert.match(text, /21\.0 % → 24\.2 %, \+3\.2 points \[−1\.0,\n? *\+7\.4\]/);
  assert.match(text, /unpaired: they were\s+asked other tasks/);
  assert.match(text, /0\.400 ± 0\.050 \(n 2\)/);
  const same = comparisonLines({ ...found, sources: [], config: [] }, 80).join("\n");
  assert.match(same, /Nothing differs but the seed and the name\./);
});
