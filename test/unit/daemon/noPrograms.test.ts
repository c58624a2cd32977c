/** Systems without /proc: who lives is seen by the number and the beats, and a program is asked only where those leave it open. */
import assert from "node:assert/strict";
import { chmodSync, existsSync, mkdirSync, readFileSync, utimesSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { afterEach, test, type TestContext } from "node:test";
import { spawn } from "node:child_process";
import { once } from "node:events";
import { endAtOnce } from "../../../server/daemon/runs/control.ts";
import { LiveRuns } from "../../../server/daemon/runs/liveRuns.ts";
import { startWorker } from "../../../server/daemon/worker.ts";
import { runFolder } from "../../../server/store/files.ts";
import type { RemoteStore } from "../../../server/store/remote.ts";
import { takeLock } from "../../../shared/daemon/lock.ts";
import { startOfChild } from "../../../shared/daemon/process.ts";
import { ownPlace } from "../../../shared/daemon/place.ts";
import { holderOf, leasePath, readWorker, writeWorker } from "../../../shared/run/lease.ts";
import { temporary } from "../support.ts";

const skip = process.platform === "win32" && "plants another system's programs";
const own = { platform: process.platform, path: process.env["PATH"] };
afterEach(() => {
  Object.defineProperty(process, "platform", { value: own.platform });
  process.env["PATH"] = own.path;
});

/** A Mac on which each program that says who a process is leaves a line. */
function planted(says = "exit 1"): () => number {
  ownPlace();
  const folder = temporary();
  const asked = join(folder, "asked");
  writeFileSync(join(folder, "ps"), `#!/bin/sh\necho "$*" >> ${asked}\n${says}\n`);
  chmodSync(join(folder, "ps"), 0o755);
  Object.defineProperty(process, "platform", { value: "darwin" });
  process.env["PATH"] = folder;
  return () => (existsSync(asked) ? readFileSync(asked, "utf8").trim().split("\n").length : 0);
}

/** A run with a worker that lives and a daemon that looks at it; time passes as it is told. */
function liveRun(context: TestContext) {
  context.mock.timers.enable({ apis: ["setInterval", "Date"], now: Date.now() });
  const store = temporary();
  const folder = runFolder(store, "one");
  mkdirSync(folder, { recursive: true });
  const entry = join(store, "worker.mjs");
  writeFileSync(entry, "setInterval(() => {}, 1e9);");
  const program = { node: process.execPath, entry, version: "0" };
  startWorker(program, { folder, file: entry, attempt: 0 }, () => undefined);
  const { pid } = readWorker(folder)!;
  context.after(() => process.kill(pid, "SIGKILL"));
  const lease = takeLock(leasePath(folder));
  assert.equal(lease.state, "taken");
  const calls: string[] = [];
  const call = (name: string) => Promise.resolve(void calls.push(name));
  const runs = new LiveRuns(store, { call } as unknown as RemoteStore, assert.fail);
  runs.launched("one");
  /** Seconds of the daemon, at whose end the worker beats. */
  const pass = (seconds: number, beats = true): void => {
    context.mock.timers.tick(seconds * 1000);
    if (beats && lease.state === "taken") lease.lock.touch();
  };
  /** All beats are old, as after a sleep of the machine. */
  const sleep = (): void => {
    const long = new Date(0);
    for (const file of [leasePath(folder), join(folder, "worker.json")]) utimesSync(file, long, long);
  };
  const isSettled = (): boolean => calls.includes("drain");
  context.after(() => runs.close());
  return { pass, sleep, isSettled };
}

test("in a minute of a live run no program is started", { skip }, (context) => {
  const asked = planted();
  const { pass, isSettled } = liveRun(context);
  for (let beat = 0; beat < 12; beat++) pass(5);
  assert.deepEqual([asked(), isSettled()], [0, false]);
});

test("a worker whose beats are old after the machine's sleep is waited for", { skip }, (context) => {
  planted();
  const { pass, sleep, isSettled } = liveRun(context);
  pass(5);
  sleep();
  pass(4);
  assert.ok(!isSettled(), "its beat is to come");
  pass(1);
  sleep();
  pass(9.5, false);
  assert.ok(!isSettled(), "the looks begin again after each beat");
  pass(60, false);
  assert.ok(isSettled(), "it never came");
});

test("a file that names another's process has nobody signalled", { skip }, async () => {
  planted("echo sleep");
  const folder = temporary();
  const foreign = spawn(process.execPath, ["-e", "process.stdin.pipe(process.stdout)"], {
    stdio: ["pipe", "pipe", "inherit"],
  });
  const pid = foreign.pid!;
  const startedAt = new Date().toISOString();
  const identity = { pid, processStart: startOfChild(pid), place: ownPlace() };
  writeWorker(folder, { ...identity, attempt: 0, startedAt, version: "0" });
  assert.equal(holderOf(folder).state, "here", "as far as a look can see");
  endAtOnce(folder, { platform: "darwin", killAfter: 0 });
  foreign.stdin.write("lives");
  const [said] = await Promise.race([once(foreign.stdout, "data"), once(foreign, "exit")]);
  foreign.kill("SIGKILL");
  assert.equal(String(said), "lives");
});
