import assert from "node:assert/strict";
import { spawn } from "node:child_process";
import { once } from "node:events";
import { existsSync, mkdirSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { after, before, test } from "node:test";
import { openDatabase } from "../../../server/store/drivers/driver.ts";
import { databasePath } from "../../../server/store/files.ts";
import { isRunning, processStart } from "../../../shared/daemon/process.ts";
import { ask } from "../../../shared/daemon/request.ts";
import { readWorker, writeWorker } from "../../../shared/run/lease.ts";
import { runsControl, runsList, runsShow } from "../../../shared/protocol/protocol.ts";
import { Sandbox, kill, until } from "../daemon.ts";

let box: Sandbox;
before(async () => {
  box = await Sandbox.make();
});
after(() => box.end());

const victim = "../../../victim";

test("a store that came from elsewhere deletes nothing outside itself", async () => {
  const link = await box.link();
  const run = await box.start(link.connection(), 3, 1);
  await box.reach(link.connection(), run, ({ status }) => status === "finished");
  kill(link.hello.pid, "SIGTERM");
  await until(async () => (isRunning(link.hello.pid) ? null : true), "the daemon to end");

  const { database } = openDatabase(databasePath(box.store), { anyThread: true });
  const columns = (database.prepare("SELECT name FROM pragma_table_info('run')").all() as { name: string }[])
    .map(({ name }) => name)
    .filter((name) => name !== "id" && name !== "start_key")
    .join(", ");
  database
    .prepare(`INSERT INTO run(id, ${columns}) SELECT ?, ${columns} FROM run WHERE id = ?`)
    .run(victim, run);
  database.close();
  const folder = join(box.store, "runs", victim);
  mkdirSync(folder, { recursive: true });
  writeFileSync(join(folder, "precious"), "");

  const connection = await box.connect();
  assert.deepEqual(
    (await ask(connection, runsList, {})).runs.map(({ id }) => id),
    [run],
  );
  for (const method of ["delete", "show", "resume", "control"])
    await assert.rejects(
      connection.sendRequest(`gradus/runs/${method}`, { run: victim, action: "stop", now: true }),
      (error: Error & { code: number }) => error.code === -32602,
    );
  assert.ok(existsSync(join(folder, "precious")));
  assert.equal((await ask(connection, runsShow, { run })).id, run);
});

test("worker.json does not choose the process that a stop ends", async () => {
  const connection = await box.connect();
  const run = await box.start(connection, 100_000, 20);
  await box.reach(connection, run, ({ step }) => step >= 1);
  const folder = box.folder(run);
  const worker = readWorker(folder);
  assert.ok(worker !== null);
  const bystander = spawn(process.execPath, [
    "-e",
    "process.stdout.write('up'); setInterval(() => {}, 1000)",
    folder,
  ]);
  try {
    await once(bystander.stdout, "data");
    const pid = bystander.pid ?? 0;
    const daemon = box.discovery();
    assert.ok(daemon !== null);
    for (const claimed of [
      { pid, processStart: "" },
      { pid, processStart: processStart(pid) },
      { pid: daemon.pid, processStart: daemon.processStart },
    ]) {
      writeWorker(folder, { ...worker, ...claimed });
      // The run's own worker still holds the lease, and is the one that is meant.
      await ask(connection, runsControl, { run, action: "checkpoint" });
      assert.ok(isRunning(pid));
    }
    await ask(connection, runsControl, { run, action: "stop", now: true });
    await until(async () => (isRunning(worker.pid) ? null : true), "the worker to end");
    await box.reach(connection, run, ({ status }) => status === "stopped");
    assert.ok(isRunning(pid) && isRunning(daemon.pid));
    await assert.rejects(ask(connection, runsControl, { run, action: "stop", now: true }), /not live/);
    assert.ok(isRunning(pid) && isRunning(daemon.pid), "nobody else was signalled");
  } finally {
    kill(bystander.pid ?? 0, "SIGKILL");
  }
});
