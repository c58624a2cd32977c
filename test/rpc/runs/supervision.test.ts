import assert from "node:assert/strict";
import { existsSync } from "node:fs";
import { join } from "node:path";
import { afterEach, beforeEach, test } from "node:test";
import { ask } from "../../../shared/daemon/request.ts";
import {
  changed,
  metricsSeries,
  rolloutsQuery,
  runsControl,
  runsDelete,
  runsList,
  runsResume,
  runsStart,
  subscribe,
  type Change,
} from "../../../shared/protocol/protocol.ts";
import type { MessageConnection } from "vscode-jsonrpc/node";
import { workerIsAlive } from "../../../shared/run/lease.ts";
import { exportArchive } from "../../../server/store/archive/exportArchive.ts";
import { importArchive } from "../../../server/store/archive/importArchive.ts";
import { Sandbox, kill, until } from "../daemon.ts";

let box: Sandbox;
beforeEach(async () => {
  box = await Sandbox.make();
});
afterEach(() => box.end());

const curve = async (connection: MessageConnection, run: string) =>
  (await ask(connection, metricsSeries, { run, metrics: ["reward/total", "run/attempt"], maxPoints: 10_000 }))
    .series;
const upTo = (count: number): number[] => Array.from({ length: count }, (_, index) => index);

test("a run is started, watched without a gap, and finishes", async () => {
  const connection = await box.connect();
  const seen: Change[] = [];
  connection.onNotification(
    changed.method,
    (batch: { changes: Change[] }) => void seen.push(...batch.changes),
  );
  await ask(connection, subscribe, {});
  const key = "k";
  const [one, two] = await Promise.all(
    [1, 2].map(() => ask(connection, runsStart, { file: box.file, steps: 15, seed: 5, key })),
  );
  assert.equal(one?.run, two?.run);
  const run = one?.run ?? "";
  assert.match(run, /^mini-\d{8}-\d{6}-[0-9a-f]{4}$/);
  assert.equal((await box.reach(connection, run, ({ status }) => status === "finished")).step, 14);
  await until(
    async () => (seen.some(({ summary }) => summary?.status === "finished") ? true : null),
    "the feed",
  );
  assert.deepEqual(
    seen.filter(({ kind }) => kind === "step").map(({ step }) => step),
    upTo(15),
  );
  assert.deepEqual(
    seen.map(({ cursor }) => cursor),
    seen.map((_, index) => (seen[0]?.cursor ?? 0) + index),
  );
  assert.equal((await ask(connection, runsStart, { file: box.file, key })).run, run);
});

test("the daemon is killed in the middle of a run: the run goes on, nothing is lost, no row is there twice", async () => {
  const first = await box.connect();
  const run = await box.start(first, 60, 20);
  await box.reach(first, run, ({ step }) => step >= 5);
  const { cursor } = await ask(first, subscribe, {});
  const pid = box.discovery()?.pid ?? 0;
  const worker = box.workerOf(run);
  kill(pid, "SIGKILL");
  const second = await box.connect();
  assert.notEqual(box.discovery()?.pid, pid);
  assert.equal(box.workerOf(run), worker);
  const { status } = await box.reach(second, run, ({ step }) => step >= 10);
  // It may have ended while there was no daemon.
  assert.ok(["running", "reading", "finished"].includes(status), status);
  await box.reach(second, run, (detail) => detail.status === "finished");
  const [reward] = await curve(second, run);
  assert.deepEqual({ steps: reward?.steps, values: reward?.values }, { steps: upTo(60), values: upTo(60) });
  assert.equal((await ask(second, rolloutsQuery, { run, limit: 1 })).total, 120);
  const { changes, restart } = await ask(second, subscribe, { since: cursor });
  assert.equal(restart, false);
  assert.deepEqual(
    changes
      .filter(({ kind }) => kind === "step")
      .map(({ step }) => step)
      .at(-1),
    59,
  );
});

test("a killed worker is interrupted; it resumes as a new attempt and the old tail is superseded", async () => {
  const connection = await box.connect();
  const run = await box.start(connection, 30, 20);
  await box.reach(connection, run, ({ step }) => step >= 8);
  kill(box.workerOf(run), "SIGKILL");
  const dead = await box.reach(connection, run, ({ status }) => status === "interrupted");
  assert.match(dead.message ?? "", /gradus runs resume/);
  const before = dead.step;
  const [one, two] = await Promise.allSettled([1, 2].map(() => ask(connection, runsResume, { run })));
  assert.deepEqual([one?.status, two?.status].sort(), ["fulfilled", "rejected"]);
  await assert.rejects(ask(connection, runsDelete, { run }), /live/);
  const done = await box.reach(connection, run, ({ status }) => status === "finished");
  assert.deepEqual(
    done.attempts.map(({ attempt, resumedAt }) => [attempt, resumedAt]),
    [
      [0, null],
      [1, before - 2],
    ],
  );
  const [reward, attempt] = await curve(connection, run);
  assert.deepEqual(reward?.steps, upTo(30));
  assert.deepEqual(
    attempt?.values,
    upTo(30).map((step) => (step < before - 2 ? 0 : 1)),
  );
  // Its last record comes a moment before its process ends.
  await until(async () => (workerIsAlive(box.folder(run)) ? null : true), "its process to end");
  await assert.rejects(ask(connection, runsResume, { run }), /has finished/);
  assert.deepEqual(await ask(connection, runsDelete, { run }), { deleted: true });
  assert.equal(existsSync(box.folder(run)), false);
  assert.deepEqual((await ask(connection, runsList, {})).runs, []);
});

test("a run that comes out of a file without an end is interrupted, as it was where it comes from", async () => {
  const connection = await box.connect();
  const run = await box.start(connection, 100_000, 10);
  await box.reach(connection, run, ({ step }) => step >= 2);
  kill(box.workerOf(run), "SIGKILL");
  const { step } = await box.reach(connection, run, ({ status }) => status === "interrupted");
  const out = join(box.base, "run.gradusrun");
  await exportArchive({ folder: box.folder(run), run, out, checkpoints: false, version: "0.1.0" });
  await ask(connection, runsDelete, { run });
  await importArchive(out, box.store);
  const found = await until(async () => {
    const { runs } = await ask(connection, runsList, {});
    return runs.find(({ status }) => status === "interrupted") ?? null;
  }, "the imported run's end");
  assert.deepEqual([found.id, found.step], [run, step]);
  assert.match(found.message ?? "", /ended without finishing/);
});

test("pause, continue, stop and stop at once", async () => {
  const connection = await box.connect();
  const run = await box.start(connection, 100_000, 10);
  await box.reach(connection, run, ({ step }) => step >= 1);
  await ask(connection, runsControl, { run, action: "pause" });
  await box.reach(connection, run, ({ status }) => status === "paused");
  await ask(connection, runsControl, { run, action: "continue" });
  await box.reach(connection, run, ({ status }) => status === "running");
  await ask(connection, runsControl, { run, action: "stop" });
  await box.reach(connection, run, ({ status }) => status === "stopped");
  await until(
    async () =>
      (await ask(connection, runsControl, { run, action: "pause" }).catch(
        (error: Error) => error.message,
      )) === ""
        ? null
        : true,
    "the worker to end",
  );
  const second = await box.start(connection, 100_000, 10);
  await box.reach(connection, second, ({ step }) => step >= 1);
  await ask(connection, runsControl, { run: second, action: "stop", now: true });
  assert.match(
    (await box.reach(connection, second, ({ status }) => status === "stopped")).message ?? "stopped",
    /stopped/i,
  );
});

test("a config with errors starts nothing and gives its diagnostics", async () => {
  const { writeFileSync } = await import("node:fs");
  writeFileSync(box.file, "name: mini\nrollot: { group: 4 }\n");
  const connection = await box.connect();
  await assert.rejects(
    connection.sendRequest("gradus/runs/start", { file: box.file }),
    (
      error: Error & { code: number; data: { diagnostics: readonly { severity: string }[]; action: string } },
    ) => {
      assert.equal(error.code, -33005);
      assert.ok(error.data.diagnostics.some(({ severity }) => severity === "error"));
      assert.match(error.data.action, /gradus validate/);
      return true;
    },
  );
  assert.deepEqual((await ask(connection, runsList, {})).runs, []);
});
