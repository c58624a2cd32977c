import assert from "node:assert/strict";
import { existsSync, rmSync } from "node:fs";
import { test } from "node:test";
import { isRunning } from "../../../shared/daemon/process.ts";
import { ask } from "../../../shared/daemon/request.ts";
import { runsDelete, runsList, runsResume } from "../../../shared/protocol/protocol.ts";
import { Sandbox, kill } from "../daemon.ts";

test("a run whose folder was removed by hand is not resumed, does not stay live, and can be taken off the list", async () => {
  const box = await Sandbox.make();
  try {
    const connection = await box.connect();
    const stopped = await box.start(connection, 1000);
    await box.reach(connection, stopped, ({ step }) => step > 2);
    kill(box.workerOf(stopped), "SIGKILL");
    await box.reach(connection, stopped, ({ status }) => status === "interrupted");
    rmSync(box.folder(stopped), { recursive: true });
    await assert.rejects(ask(connection, runsResume, { run: stopped }), /The folder .* is gone/);
    assert.equal((await box.reach(connection, stopped, () => true)).status, "interrupted");

    const live = await box.start(connection, 1000);
    await box.reach(connection, live, ({ step }) => step > 2);
    const worker = box.workerOf(live);
    rmSync(box.folder(live), { recursive: true });
    kill(worker, "SIGKILL");
    const { message } = await box.reach(connection, live, ({ status }) => status === "interrupted");
    assert.match(String(message), /is gone.*gradus runs delete/);

    for (const run of [stopped, live]) await ask(connection, runsDelete, { run });
    assert.deepEqual((await ask(connection, runsList, {})).runs, []);
  } finally {
    await box.end();
  }
});

test("the worker of a run whose folder was removed ends by itself; nothing is made anew, and a delete waits for it", async () => {
  const box = await Sandbox.make();
  try {
    const connection = await box.connect();
    const run = await box.start(connection, 100_000);
    await box.reach(connection, run, ({ step }) => step > 2);
    const worker = box.workerOf(run);
    kill(worker, "SIGSTOP");
    // The daemon has seen it by then: it looks every half second.
    rmSync(box.folder(run), { recursive: true });
    await assert.rejects(ask(connection, runsDelete, { run }), /still works on run .*folder was removed/);
    kill(worker, "SIGCONT");
    await box.reach(connection, run, ({ status }) => status === "interrupted");
    assert.ok(!isRunning(worker));
    assert.ok(!existsSync(box.folder(run)));
    await ask(connection, runsDelete, { run });
    assert.deepEqual((await ask(connection, runsList, {})).runs, []);
  } finally {
    await box.end();
  }
});
