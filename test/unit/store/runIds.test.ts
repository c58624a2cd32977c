import assert from "node:assert/strict";
import { existsSync, mkdirSync, realpathSync, symlinkSync, writeFileSync } from "node:fs";
import { join, sep } from "node:path";
import { test } from "node:test";
import { removeTrash, toTrash } from "../../../server/daemon/runs/trash.ts";
import { findCheckpoint } from "../../../server/cli/runs/checkpointNames.ts";
import { readRunFile, runFolder, runIds } from "../../../server/store/files.ts";
import { requests } from "../../../shared/protocol/protocol.ts";
import { isRunId } from "../../../shared/run/runId.ts";
import { newFolder, newStore, plain, write } from "./support.ts";
import { needs } from "../../support/system.ts";

const bad = [
  "",
  ".",
  "..",
  "../x",
  "../../../victim",
  "/etc",
  "a/b",
  "a\\b",
  ".hidden",
  "a\0b",
  "a b",
  "é",
  "a\n",
  "x".repeat(201),
];
const good = ["a", "mini-20260102-030405-1f2e", "A_b.c-9", "a..b", "x".repeat(200)];

test("an id is the name of a folder and nothing else, in every request", () => {
  for (const id of bad) assert.equal(isRunId(id), false, JSON.stringify(id));
  for (const id of good) assert.ok(isRunId(id), id);
  const { runsShow, runsDelete, runsResume, runsControl, rolloutsQuery, subscribe } = requests;
  for (const run of bad) {
    for (const { params } of [runsShow, runsDelete, runsResume, runsControl, rolloutsQuery])
      assert.equal(params.safeParse({ run, action: "stop" }).success, false, JSON.stringify(run));
    assert.equal(subscribe.params.safeParse({ runs: [run] }).success, false);
  }
  assert.ok(runsDelete.params.safeParse({ run: good[1] }).success);
});

test("a folder of a run is directly in runs/; a link is none", needs.links, () => {
  const { folder, store } = newStore();
  const outside = newFolder();
  mkdirSync(join(outside, "log"), { recursive: true });
  symlinkSync(outside, join(folder, "runs", "linked"));
  write(folder, "real", 0, plain(0, 1));
  mkdirSync(join(folder, "runs", "a b", "log"), { recursive: true });
  assert.deepEqual(runIds(folder), ["real"]);
  for (const id of bad) assert.throws(() => runFolder(folder, id), /There is no run/);
  assert.throws(() => runFolder(folder, "linked"), /symbolic link/);
  assert.throws(() => store.ingest.register("../../victim"), /There is no run/);
  assert.throws(() => toTrash(folder, "linked"), /symbolic link/);
});

test("rows of a store that came from elsewhere name no folder outside it", () => {
  const { store, folder } = newStore();
  write(folder, "real", 0, plain(0, 1));
  store.scan();
  const database = Reflect.get(store, "database") as {
    prepare(sql: string): { run(...values: unknown[]): unknown; all(): { name: string }[] };
  };
  const columns = database
    .prepare("SELECT name FROM pragma_table_info('run')")
    .all()
    .map(({ name }) => name)
    .filter((name) => name !== "id" && name !== "start_key");
  for (const [at, id] of ["../../../victim", "..", "/etc", ".x"].entries()) {
    database
      .prepare(
        `INSERT INTO run(id, start_key, ${columns.join(", ")}) SELECT ?, ?, ${columns.join(", ")} FROM run WHERE id = 'real'`,
      )
      .run(id, `key${at}`);
    database.prepare("INSERT INTO change(run, kind, step) VALUES (?, 'created', -1)").run(id);
  }
  assert.deepEqual(
    store.queries.list({ limit: 1 }).runs.map(({ id }) => id),
    ["real"],
  );
  assert.equal(store.queries.byStartKey("key0"), null);
  assert.ok(store.queries.changes({ since: 0 }).changes.every(({ run }) => run === "real"));
  const { file } = store.queries.show({ run: "real" });
  assert.equal(store.queries.lens(file).lastRun?.id, "real");
});

test("deleting never leaves the store, also where runs/ is a link", needs.links, async () => {
  const [folder, outside] = [newFolder(), newFolder()];
  mkdirSync(join(outside, "victim", "log"), { recursive: true });
  mkdirSync(folder, { recursive: true });
  symlinkSync(outside, join(folder, "runs"));
  assert.throws(() => toTrash(folder, "victim"), /links out of its store/);
  mkdirSync(join(outside, ".trash-victim"));
  await assert.rejects(removeTrash(folder, "victim"), /links out of its store/);
  assert.ok(existsSync(join(outside, "victim")) && existsSync(join(outside, ".trash-victim")));
});

test("run.json does not choose the folder of a checkpoint", () => {
  const [folder, outside] = [newFolder(), newFolder()];
  const step = join("checkpoints", "3", "policy");
  for (const run of [join(folder, "runs", "mine"), join(outside, "runs", "victim")])
    mkdirSync(join(run, step), { recursive: true });
  const victim = `../../../${realpathSync(outside).split(sep).slice(-2).join("/")}/runs/victim`;
  const content = { id: victim, file: "/x.yaml", name: "named", set: [], createdAt: "2026-01-01" };
  writeFileSync(join(folder, "runs", "mine", "run.json"), JSON.stringify(content));
  assert.equal(readRunFile(join(folder, "runs", "mine")), null);
  assert.throws(() => findCheckpoint("named", folder), /named/);
  writeFileSync(join(folder, "runs", "mine", "run.json"), JSON.stringify({ ...content, id: "another" }));
  assert.throws(() => findCheckpoint("named", folder), /runs[\\/]mine is not a checkpoint/);
});
