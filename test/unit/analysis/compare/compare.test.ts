/** Runs next to each other: what differs, seeds as one, and how sure a difference is. */
import assert from "node:assert/strict";
import { test } from "node:test";
import { treeDifferences } from "../../../../server/analysis/compare/configDifference.ts";
import { compareRuns, type RunFacts } from "../../../../server/analysis/compare/compare.ts";
import { groupSeries, groupsBySeed } from "../../../../server/analysis/compare/groups.ts";
import { heldOutDifferences } from "../../../../server/analysis/compare/heldOut.ts";
import { runLabel } from "../../../../server/analysis/compare/label.ts";
import { sourceDifferences } from "../../../../server/analysis/compare/sourceDifference.ts";
import { randomStream } from "../../../../server/lib/random.ts";
import type { JsonObject } from "../../../../shared/lib/json.ts";
import type { EvaluationRow, Series } from "../../../../shared/protocol/protocol.ts";
import type { RunSources } from "../../../../shared/run/sources.ts";

const config = (change: JsonObject = {}): JsonObject => ({
  name: "sums",
  seed: 1,
  tasks: [
    { name: "easy", numbers: [3], weight: 1 },
    { name: "hard", numbers: [4], weight: 1 },
  ],
  reward: { terms: { correct: { use: "equation", weight: 1 } } },
  update: { optimizer: { use: "adamw", lr: 1e-5 } },
  kl: [],
  ...change,
});

test("configs differ by path: order of maps means nothing, named items meet by name, other lists are values", () => {
  const other: JsonObject = {
    tasks: [
      { weight: 2, numbers: [4], name: "hard" },
      { name: "easy", weight: 1, numbers: [3] },
    ],
    update: { optimizer: { lr: 3e-6, use: "adamw" } },
    kl: [{ model: "reference" }],
    reward: { terms: { correct: { weight: 1, use: "equation" }, "a.b": { use: "length", weight: 0.1 } } },
    name: "sums",
    seed: 1,
  };
  assert.deepEqual(treeDifferences([config(), other]), [
    { path: "tasks.hard.weight", values: [1, 2] },
    { path: 'reward.terms."a.b"', values: [undefined, { use: "length", weight: 0.1 }] },
    { path: "update.optimizer.lr", values: [1e-5, 3e-6] },
    { path: "kl", values: [[], [{ model: "reference" }]] },
  ]);
  assert.deepEqual(treeDifferences([config(), structuredClone(config())]), []);
});

test("a label says what a run has that the first has not, the seed last", () => {
  const lr = (value: number): JsonObject => ({ update: { optimizer: { use: "adamw", lr: value } } });
  assert.equal(runLabel(config({ ...lr(3e-6), seed: 2 }), config()), "lr 3e-6 · seed 2");
  assert.equal(runLabel(config(), config()), "");
  // How often it is evaluated is told only where nothing else differs.
  assert.equal(
    runLabel(config({ evaluation: { every: 5 }, seed: 2 }), config({ evaluation: { every: 9 } })),
    "every 5 · seed 2",
  );
  assert.equal(
    runLabel(config({ evaluation: { every: 5 }, ...lr(1) }), config({ evaluation: { every: 9 } })),
    "lr 1",
  );
  const weighted = config({ reward: { terms: { correct: { use: "equation", weight: 0.5 } } } });
  assert.equal(runLabel(weighted, config()), "correct weight 0.5");
});

const sources = (sha: string): RunSources => ({
  gradus: "1",
  node: "22",
  rewards: [{ term: "correct", files: [{ path: "rewards/a.ts", sha256: sha.repeat(64), kept: null }] }],
  environments: [],
  tools: [],
  data: [{ path: "t.jsonl", bytes: 4, modified: "2026-01-01T00:00:00.000Z", sha256: "d".repeat(64) }],
  python: { version: "3.11.7", packages: { numpy: sha === "a" ? "1.26" : "2.0" } },
});

test("sources: rewards before packages, and a run that kept none is no difference by itself", () => {
  assert.deepEqual(sourceDifferences([sources("a"), undefined, sources("b")]), [
    { kind: "reward", name: "rewards/a.ts", values: ["aaaaaaaaaaaa", null, "bbbbbbbbbbbb"] },
    { kind: "package", name: "numpy", values: ["1.26", null, "2.0"] },
  ]);
  assert.deepEqual(sourceDifferences([sources("a"), undefined]), []);
});

test("runs that differ in name and seed only are one group, unless their rewards differ", () => {
  const run = (change: JsonObject, kept?: RunSources) => ({ config: config(change), sources: kept });
  const runs = [
    run({}),
    run({ seed: 2, name: "again" }),
    run({ kl: [1] }),
    run({ seed: 3 }),
    run({ kl: [1], seed: 2 }),
  ];
  assert.deepEqual(groupsBySeed(runs), [
    [0, 1, 3],
    [2, 4],
  ]);
  assert.deepEqual(
    groupsBySeed([run({}, sources("a")), run({ seed: 2 }, sources("b")), run({ seed: 3 }, sources("a"))]),
    [[0, 2], [1]],
  );
});

const series = (values: readonly number[], metric = "reward/total"): Series => ({
  metric,
  steps: values.map((_, step) => step),
  values,
  total: values.length,
  width: 1,
});

test("the mean of seeds has n and both widths at each step, and ends where the shortest run does", () => {
  const found = groupSeries(
    0,
    [series([0, 1, 2, 3]), series([2, 3, 4]), series([1, 2, Number.NaN, 9])],
    [3, 2, 3],
  );
  assert.deepEqual(found.steps, [0, 1, 2]);
  assert.deepEqual(found.n, [3, 3, 2]);
  assert.deepEqual(found.mean, [1, 2, 3]);
  assert.deepEqual(found.spread, [1, 1, Math.SQRT2]);
  assert.deepEqual(found.error, [1 / Math.sqrt(3), 1 / Math.sqrt(3), 1]);
  const alone = groupSeries(1, [series([5, 6])], [1]);
  assert.deepEqual(alone.spread, [null, null]);
  assert.deepEqual(alone.mean, [5, 6]);
});

test("runs in buckets of other widths meet in the widest, weighted by their points", () => {
  const wide: Series = {
    metric: "m",
    steps: [3, 7],
    begins: [0, 4],
    values: [1, 3],
    counts: [4, 4],
    low: [0, 2],
    high: [2, 4],
    total: 8,
    width: 4,
  };
  const found = groupSeries(0, [wide, series([0, 0, 0, 4, 8, 8], "m")], [7, 5]);
  // The shortest run ends within the second bucket: what is left of it is of other steps.
  assert.deepEqual(found.steps, [3]);
  assert.deepEqual(found.begins, [0]);
  assert.deepEqual(found.mean, [1]);
});

const row = (right: readonly number[], ids = right.map((_, at) => `t${at}`)): EvaluationRow => ({
  step: 9,
  role: "last",
  metrics: { "eval/pass@1": right.reduce((sum, one) => sum + one / 4, 0) / right.length },
  results: {
    tasks: ids,
    arms: ids.map(() => "x"),
    samples: ids.map(() => 4),
    right,
    greedy: ids.map(() => null),
  },
});
const one = (last: EvaluationRow | undefined, prompts: number | null = null) => [{ last, prompts }];

test("pass@k is paired by task: what is hard for both cancels", async () => {
  // Half of the tasks are hopeless, and the second run is a little better on every other.
  const before = Array.from({ length: 64 }, (_, at) => (at % 2 === 0 ? 0 : 2));
  const after = before.map((right) => (right === 0 ? 0 : right + 1));
  const random = randomStream(0, "test");
  const [paired] = await heldOutDifferences([one(row(before)), one(row(after))], random);
  assert.equal(paired!.method, "paired");
  assert.equal(paired!.tasks, 64);
  assert.equal(paired!.difference, 0.125);
  assert.ok(paired!.low > 0.09 && paired!.high < 0.16, `${paired!.low} to ${paired!.high}`);
  // In another order, the same; without results task by task the interval is Newcombe's, and says why.
  const shuffled = row([...after].reverse(), after.map((_, at) => `t${at}`).reverse());
  assert.deepEqual(await heldOutDifferences([one(row(before)), one(shuffled)], random), [paired]);
  const { results: _, ...bare } = row(after);
  const [unpaired] = await heldOutDifferences([one(row(before)), one(bare, 64)], random);
  assert.equal(unpaired!.method, "unpaired");
  assert.match(unpaired!.reason!, /no results task by task/);
  assert.ok(unpaired!.low < 0 && unpaired!.high > 0.2);
  const [others] = await heldOutDifferences(
    [
      one(row(before)),
      one(
        row(
          after,
          after.map((_, at) => `u${at}`),
        ),
      ),
    ],
    random,
  );
  assert.match(others!.reason!, /other tasks/);
});

const facts = (id: string, change: JsonObject, more: Partial<RunFacts> = {}): RunFacts => ({
  id,
  name: "sums",
  step: 2,
  config: config(change),
  authored: "name: sums\nupdate: { optimizer: { lr: 3.0e-6 } }\n",
  set: [],
  sources: sources("a"),
  series: [series([1, 2, 3])],
  imported: false,
  last: row([1, 2, 3, 4]),
  prompts: 4,
  ...more,
});

test("runs that differ in what was assigned to each are all named by it, the first as well", async () => {
  const swept = (id: string, lr: number) =>
    facts(id, { update: { optimizer: { use: "adamw", lr } } }, { set: [`update.optimizer.lr=${lr}`] });
  const { groups } = await compareRuns([swept("a", 1e-3), swept("b", 3e-6)], []);
  assert.deepEqual(
    groups.map(({ label }) => label),
    ["lr 0.001", "lr 3e-6"],
  );
});

test("a comparison: groups with labels, who wrote what differs, and what limits it", async () => {
  const lr = { update: { optimizer: { use: "adamw", lr: 3e-6 } } };
  const found = await compareRuns(
    [
      facts("a", {}, { authored: "name: sums\n" }),
      facts("b", { seed: 2 }, { series: [series([3, 4])], step: 1 }),
      facts("c", { ...lr, kl: [1] }, { set: ["kl=[1]"], sources: undefined }),
    ],
    ["reward/total"],
  );
  assert.deepEqual(
    found.groups.map(({ label, runs }) => [label, runs]),
    [
      ["sums", [0, 1]],
      ["lr 3e-6 · kl [1]", [2]],
    ],
  );
  assert.deepEqual(
    found.config.map(({ path, values }) => [path, values.map(({ by }) => by)]),
    [
      ["update.optimizer.lr", ["default", "file", "file"]],
      ["kl", ["default", "default", "set"]],
    ],
  );
  assert.deepEqual(
    found.series[0]!.groups.map(({ mean }) => mean),
    [
      [2, 3],
      [1, 2, 3],
    ],
  );
  assert.equal(found.heldOut[0]!.difference, 0);
  assert.match(found.notes.join("\n"), /^c kept no sources/m);
  assert.match(found.notes.join("\n"), /shortest run/);
  assert.match(found.notes.join("\n"), /1 group of 2 has one seed/);
});

test("a run that has not started says nothing of its config: it is another group, and differs in no key", async () => {
  const lr = { update: { optimizer: { use: "adamw", lr: 3e-6 } } };
  const unstarted = {
    step: -1,
    config: {},
    authored: "",
    sources: undefined,
    last: undefined,
    prompts: null,
  };
  const runs = [facts("a", {}), facts("b", lr), facts("c", {}, unstarted), facts("d", {}, unstarted)];
  const found = await compareRuns(runs, []);
  assert.deepEqual(
    found.groups.map(({ label, runs: own }) => [label, own]),
    [
      ["sums", [0]],
      ["lr 3e-6", [1]],
      ["not started", [2]],
      ["not started", [3]],
    ],
  );
  assert.deepEqual(
    found.config.map(({ path, values }) => [path, values.map(({ value }) => value)]),
    [["update.optimizer.lr", [1e-5, 3e-6, undefined, undefined]]],
  );
  assert.match(
    found.notes.join("\n"),
    /^c, d recorded no config yet: only those of the others are compared/m,
  );
  assert.doesNotMatch(found.notes.join("\n"), /kept no sources/);
  const first = await compareRuns([facts("c", {}, unstarted), facts("a", {})], []);
  assert.deepEqual(first.config, []);
  assert.deepEqual(
    first.groups.map(({ label }) => label),
    ["sums", "sums"],
  );
});
