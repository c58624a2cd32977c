/** The list of runs by expressions, what each is among others, and comparisons out of a store. */
import assert from "node:assert/strict";
import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { after, before, test } from "node:test";
import { compare } from "../../../server/daemon/experiments/compare.ts";
import { runFolder } from "../../../server/store/files.ts";
import { Store } from "../../../server/store/store.ts";
import { readMarks, writeMarks } from "../../../shared/run/marks.ts";
import { makeExperiment } from "../../support/experimentRuns.ts";

const project = mkdtempSync(join(tmpdir(), "gradus-runs-"));
let store: Store;
let folder = "";
before(() => {
  folder = makeExperiment(project);
  store = new Store(folder, { anyThread: true });
  for (const { run } of store.scan()) store.ingestAll(run);
});
after(() => {
  store.close();
  rmSync(project, { recursive: true, force: true });
});

const ids = (where?: string, sort?: string): readonly string[] =>
  store.queries
    .list({ limit: 50, ...(where === undefined ? {} : { where }), ...(sort === undefined ? {} : { sort }) })
    .runs.map(({ id }) => id);

test("runs by an expression, sorted by a value, what has none last", () => {
  assert.deepEqual(ids("config.update.optimizer.lr < 5e-6"), ["slow-2", "slow-1"]);
  assert.deepEqual(ids('status == "failed"'), ["brief-2"]);
  assert.deepEqual(ids("parent != null and reward/mean@last > 0.3"), ["forked"]);
  assert.deepEqual(ids("seed == 2 and eval/pass@1@max > 0", "seed"), ["slow-2", "base-2"]);
  assert.deepEqual(ids("config.reward.terms.brevity.weight > 0", "step"), ["brief-2", "brief-1"]);
  assert.equal(ids(undefined, "-reward/mean@max")[0], "forked");
  assert.deepEqual(ids(undefined, "config.reward.terms.brevity.weight").slice(0, 2), ["brief-2", "brief-1"]);
  assert.deepEqual(ids().slice(0, 2), ["forked", "brief-2"]);
  assert.throws(() => ids("nothing == 1"), /"nothing == 1" at character 1 is unknown/);
});

test("a run says in what it differs from the first of its config, its parent and its course", () => {
  const runs = new Map(store.queries.list({ limit: 50, sparks: 12 }).runs.map((run) => [run.id, run]));
  assert.equal(runs.get("base-1")!.label, undefined);
  assert.equal(runs.get("base-2")!.label, "seed 2");
  assert.equal(runs.get("slow-2")!.label, "lr 3e-6 · seed 2");
  assert.equal(runs.get("brief-1")!.label, "+brevity");
  assert.deepEqual(runs.get("forked")!.parent, { run: "base-1", step: 59 });
  const spark = runs.get("base-1")!.spark!;
  assert.equal(spark.length, 12);
  assert.ok(spark[0]! < spark.at(-1)!);
  assert.equal(store.queries.list({ limit: 1 }).runs[0]!.spark, undefined);
});

test("marks are kept in the run's folder, tell whoever follows, and a lost store loses none", () => {
  const { cursor } = store.queries.changes({});
  writeMarks(runFolder(folder, "slow-1"), { tags: ["paper", " paper ", ""], note: "too slow" });
  store.ingest.marked("slow-1");
  const { changes } = store.queries.changes({ since: cursor });
  assert.deepEqual(
    changes.map(({ run, kind, summary }) => [run, kind, summary?.tags, summary?.note]),
    [["slow-1", "status", ["paper"], "too slow"]],
  );
  writeMarks(runFolder(folder, "slow-1"), { archived: true });
  assert.deepEqual(ids('tag == "paper" and archived == true'), ["slow-1"]);
  const again = new Store(folder, { anyThread: true, inMemory: true });
  try {
    for (const { run } of again.scan()) again.ingestAll(run);
    assert.deepEqual(again.queries.summary("slow-1")!.tags, ["paper"]);
  } finally {
    again.close();
  }
  writeFileSync(join(runFolder(folder, "slow-1"), "marks.json"), "{");
  assert.deepEqual(readMarks(runFolder(folder, "slow-1")), {
    tags: [],
    note: "",
    pinned: false,
    archived: false,
  });
});

test("a comparison out of the store: seeds as one, sources first, pass@1 paired", async () => {
  const found = await compare(store.queries, {
    runs: ["base-1", "base-2", "base-3", "slow-1", "slow-2"],
    metrics: [],
    buckets: 500,
  });
  assert.deepEqual(
    found.groups.map(({ label, runs }) => [label, runs.length]),
    [
      ["sums", 3],
      ["lr 3e-6", 2],
    ],
  );
  assert.equal(found.series[0]!.metric, "reward/total");
  // The third run was stopped after 100 steps.
  assert.equal(found.series[0]!.groups[0]!.steps.at(-1), 99);
  assert.deepEqual(new Set(found.series[0]!.groups[0]!.n), new Set([3]));
  const pass = found.heldOut.find(({ metric, group }) => metric === "eval/pass@1" && group === 1)!;
  assert.equal(pass.method, "paired");
  assert.equal(pass.tasks, 64);
  assert.ok(pass.difference < 0 && pass.high < 0, `${pass.low} to ${pass.high}`);
  assert.deepEqual(
    found.arms.map(({ arm }) => arm),
    ["countdown/3", "countdown/4"],
  );
  const edited = await compare(store.queries, {
    runs: ["brief-1", "brief-2"],
    metrics: ["reward/total"],
    buckets: 8,
  });
  assert.deepEqual(
    edited.groups.map(({ label }) => label),
    ["sums", "other brevity.ts"],
  );
  assert.deepEqual(
    edited.sources.map(({ kind, name }) => [kind, name]),
    [["reward", "rewards/brevity.ts"]],
  );
});
