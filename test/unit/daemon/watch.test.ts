import assert from "node:assert/strict";
import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { test } from "node:test";
import { paced, watchRuns } from "../../../server/daemon/watch.ts";
import { putInPlace } from "../../../shared/lib/putInPlace.mjs";
import { until } from "../../support/until.ts";

test("a change is reported at once; those that follow closely are reported together, none is lost", (t) => {
  t.mock.timers.enable({ apis: ["setTimeout"] });
  const told: string[] = [];
  const touch = paced((name) => told.push(name), 250);
  touch("a");
  assert.deepEqual(told, ["a"]);
  for (let i = 0; i < 5; i++) touch("a");
  touch("b");
  assert.deepEqual(told, ["a", "b"]);
  t.mock.timers.tick(249);
  assert.deepEqual(told, ["a", "b"]);
  t.mock.timers.tick(1);
  assert.deepEqual(told, ["a", "b", "a"]);
  t.mock.timers.tick(1000);
  touch("a");
  assert.deepEqual(told, ["a", "b", "a", "a"]);
});

test("the one watch that Windows bears reports runs that come, and their logs", async () => {
  const store = mkdtempSync(join(tmpdir(), "gradus-watch-"));
  const log = join(store, "runs", "one", "log", "0");
  mkdirSync(log, { recursive: true });
  mkdirSync(join(store, "runs", "one", "checkpoints"));
  const told: string[] = [];
  const watcher = watchRuns(store, (run) => told.push(run), assert.ifError, "win32");
  try {
    writeFileSync(join(store, "runs", "one", "checkpoints", "state.json"), "");
    // A system may begin to look only after the call: what is written until then is written again.
    await until(() => {
      writeFileSync(join(log, "0.seg"), "x");
      return told.includes("one");
    }, "a change of the log");
    mkdirSync(join(store, "runs", ".trash-two"));
    mkdirSync(join(store, "runs", ".import-7-two"));
    writeFileSync(join(store, "runs", ".import-7-two", "run.json"), "{}");
    putInPlace(join(store, "runs", ".import-7-two"), join(store, "runs", "two"));
    await until(() => told.includes("two"), "a run that comes whole");
    assert.deepEqual([...new Set(told)].sort(), ["one", "two"]);
    putInPlace(join(store, "runs", "one"), join(store, "runs", ".trash-one"));
  } finally {
    await watcher.close();
    rmSync(store, { recursive: true, force: true });
  }
});
