import assert from "node:assert/strict";
import { spawnSync, type ChildProcess } from "node:child_process";
import {
  cpSync,
  existsSync,
  lstatSync,
  mkdirSync,
  mkdtempSync,
  rmSync,
  statSync,
  utimesSync,
  writeFileSync,
} from "node:fs";
import { join } from "node:path";
import { afterEach, beforeEach, test } from "node:test";
import { connectExisting } from "../../../shared/daemon/connect.ts";
import { storeLockPath } from "../../../shared/daemon/owner.ts";
import { isRunning } from "../../../shared/daemon/process.ts";
import { ask } from "../../../shared/daemon/request.ts";
import { runtimeFolder, runtimePaths } from "../../../shared/daemon/runtime.ts";
import { leasePath, readWorker } from "../../../shared/run/lease.ts";
import { attemptsOf } from "../../../shared/log/reader.ts";
import { segmentPath } from "../../../shared/log/writer.ts";
import { daemonStatus } from "../../../shared/protocol/protocol.ts";
import { Sandbox, kill, until } from "../../rpc/daemon.ts";

let box: Sandbox;
beforeEach(async () => {
  box = await Sandbox.make();
});
afterEach(() => box.end());

const old = new Date(Date.now() - 3_600_000);

/** The daemon of the store, found again by its files. */
const found = (pid: number) =>
  until(async () => {
    const link = await connectExisting(box.wish()).catch(() => null);
    if (link === null) return null;
    link.close();
    return link.hello.pid === pid ? link.hello : null;
  }, "the daemon to be found again");

async function output(child: ChildProcess): Promise<{ code: number | null; stdout: string; stderr: string }> {
  const said = { stdout: "", stderr: "" };
  child.stdout?.on("data", (text: Buffer) => (said.stdout += text.toString()));
  child.stderr?.on("data", (text: Buffer) => (said.stderr += text.toString()));
  const code = await new Promise<number | null>((resolve) => child.on("close", resolve));
  return { code, ...said };
}

test("a daemon whose socket or runtime folder goes is found again, and its clients keep their connections", async () => {
  const connection = await box.connect();
  const { pid } = await ask(connection, daemonStatus, {});
  const folder = runtimeFolder();
  const socket = (): string => box.discovery()?.socketPath ?? "";
  const harms: readonly [string, () => void][] = [
    ["the socket is removed", () => rmSync(socket())],
    ["a file stands in its place", () => (rmSync(socket()), writeFileSync(socket(), "not a socket"))],
    [
      "a folder is in its place",
      () => (rmSync(socket()), mkdirSync(join(socket(), "x"), { recursive: true })),
    ],
    ["the runtime folder is gone", () => rmSync(folder, { recursive: true })],
    [
      "the runtime folder is another",
      () => {
        rmSync(folder, { recursive: true });
        mkdirSync(folder, { mode: 0o700 });
      },
    ],
  ];
  for (const [what, harm] of harms) {
    const before = socket();
    harm();
    await until(async () => (socket() !== "" && socket() !== before ? true : null), what);
    await found(pid);
    assert.equal((await ask(connection, daemonStatus, {})).pid, pid, what);
    assert.equal(statSync(folder).mode & 0o777, 0o700, what);
    assert.equal(lstatSync(socket()).mode & 0o777, 0o600, what);
    await until(async () => (existsSync(runtimePaths(box.store).ownerLock) ? true : null), "its lock");
  }
  assert.equal((await box.link()).hello.pid, pid, "no second one is started");
});

test("a daemon that hangs is reported and ended, also where no file of the runtime folder names it", async () => {
  const { pid } = (await box.link()).hello;
  process.kill(pid, "SIGSTOP");
  const [status, doctor] = await Promise.all([
    output(box.spawn(["daemon", "status", "--json"])),
    output(box.spawn(["doctor", "--json"])),
  ]);
  const told = JSON.parse(status.stdout) as { running: boolean; reachable: boolean; pid: number };
  assert.deepEqual(
    { running: told.running, reachable: told.reachable, pid: told.pid },
    { running: true, reachable: false, pid },
  );
  const { checks } = JSON.parse(doctor.stdout) as {
    checks: { name: string; status: string; mend?: string }[];
  };
  const check = checks.find(({ name }) => name === "daemon");
  assert.equal(check?.status, "missing");
  assert.match(check?.mend ?? "", /gradus daemon stop/);
  rmSync(runtimeFolder(), { recursive: true });
  const stopped = await output(box.spawn(["daemon", "stop", "--json"]));
  assert.deepEqual(JSON.parse(stopped.stdout), { stopped: true }, stopped.stderr);
  assert.equal(isRunning(pid), false);
  assert.notEqual((await box.link()).hello.pid, pid, "and another takes its place");
});

test("a copied project is served next to its original", async () => {
  const original = await box.link();
  const copy = join(box.base, "copy");
  cpSync(join(box.base, "project"), copy, { recursive: true, preserveTimestamps: true });
  const link = await box.link({ store: join(copy, ".gradus") });
  assert.notEqual(link.hello.pid, original.hello.pid);
  assert.ok(isRunning(original.hello.pid));
  const stop = await output(box.spawn(["daemon", "stop", "--json", "--store", join(copy, ".gradus")]));
  assert.deepEqual(JSON.parse(stop.stdout), { stopped: true });
  assert.ok(isRunning(original.hello.pid), "and is stopped by itself");
});

const namespaces = [["-p"], ["-r", "-p"]].find(
  (flags) => spawnSync("unshare", [...flags, "-f", "--mount-proc", "true"]).status === 0,
);

test(
  "two workers never train one run across PID namespaces",
  { skip: namespaces === undefined ? "unshare may not make PID namespaces here" : false },
  async () => {
    const link = await box.link();
    const run = await box.start(link.connection(), 100_000, 20);
    await box.reach(link.connection(), run, ({ step }) => step >= 1);
    const worker = box.workerOf(run);
    const inside = async (script: string) => {
      // Every container has one of its own: what the one before left there seems to live until it has been silent for long.
      const runtime = mkdtempSync(join(box.base, "inside-"));
      const { spawn } = await import("node:child_process");
      return output(
        spawn("unshare", [...(namespaces ?? []), "-f", "--mount-proc", "--kill-child", "sh", "-c", script], {
          cwd: join(box.base, "project"),
          env: {
            ...process.env,
            XDG_RUNTIME_DIR: runtime,
            GRADUS: `${process.execPath} ${box.cli}`,
            GRADUS_WORKER_ENTRY: box.wish().environment?.["GRADUS_WORKER_ENTRY"] ?? "",
          },
        }),
      );
    };
    const refused = await inside("$GRADUS runs list --json");
    assert.notEqual(refused.code, 0);
    assert.match(
      refused.stderr,
      new RegExp(`Another daemon \\(pid ${link.hello.pid}\\).* another container`),
    );

    kill(link.hello.pid, "SIGKILL");
    await until(async () => (isRunning(link.hello.pid) ? null : true), "the daemon to end");
    utimesSync(storeLockPath(box.store), old, old);
    const beside = await inside(
      `$GRADUS runs show ${run} --json; $GRADUS runs resume ${run}; $GRADUS runs delete ${run}; $GRADUS runs stop ${run} --now`,
    );
    assert.equal((JSON.parse(beside.stdout.split("\n")[0] ?? "") as { status: string }).status, "running");
    assert.equal(
      (beside.stderr.match(/is live .*another container.* works on it/g) ?? []).length,
      2,
      beside.stderr,
    );
    assert.match(beside.stderr, /cannot be ended at once from here/);
    assert.ok(isRunning(worker));
    assert.deepEqual(attemptsOf(box.folder(run)), [0]);

    kill(worker, "SIGKILL");
    await until(async () => (isRunning(worker) ? null : true), "the worker to end");
    for (const path of [leasePath(box.folder(run)), segmentPath(box.folder(run), 0, 0)])
      utimesSync(path, old, old);
    utimesSync(join(box.folder(run), "worker.json"), old, old);
    // The daemon of the container before is gone with it; from a new one, only its silence tells.
    utimesSync(storeLockPath(box.store), old, old);
    const taken = await inside(`$GRADUS runs resume ${run}`);
    assert.equal(taken.code, 0, taken.stderr);
    assert.equal(readWorker(box.folder(run))?.attempt, 1);
  },
);
