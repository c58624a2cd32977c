import assert from "node:assert/strict";
import { spawn, type ChildProcess } from "node:child_process";
import { once } from "node:events";
import {
  lstatSync,
  mkdirSync,
  mkdtempSync,
  readFileSync,
  readdirSync,
  readlinkSync,
  rmSync,
  utimesSync,
  writeFileSync,
} from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { after, test } from "node:test";
import { isHolding, readLock, takeLock } from "../../../shared/daemon/lock.ts";
import { ownPlace, samePlace } from "../../../shared/daemon/place.ts";
import { isAlive, isRunning, ownIdentity, processStart, worksOn } from "../../../shared/daemon/process.ts";
import { holderOf, leasePath, takeLease, writeWorker } from "../../../shared/run/lease.ts";
import { until } from "../../support/until.ts";
import { needs } from "../../support/system.ts";

const base = mkdtempSync(join(tmpdir(), "gradus-identity-"));
const children: ChildProcess[] = [];
after(() => {
  for (const child of children) child.kill("SIGKILL");
  rmSync(base, { recursive: true, force: true });
});

/** A process that lives, with these words after its program. */
async function living(...words: string[]): Promise<number> {
  const script = "process.stdout.write('up'); setInterval(() => {}, 1000)";
  const child = spawn(process.execPath, ["-e", script, "--", ...words], {
    stdio: ["ignore", "pipe", "ignore"],
  });
  children.push(child);
  await once(child.stdout, "data");
  return child.pid ?? 0;
}
function newRun(name: string): string {
  const folder = join(base, name);
  mkdirSync(folder, { recursive: true });
  return folder;
}
const identity = (pid: number) => ({ pid, processStart: processStart(pid), place: ownPlace() });
const worker = { attempt: 0, startedAt: "2026-01-01T00:00:00Z", version: "0.1.0" };
const elsewhere = { ...ownPlace(), boot: "another-boot", pids: "pid:[1]", host: "devbox" };
const old = new Date(Date.now() - 3_600_000);

test(
  "a process is one by pid and start time; an empty start time matches none",
  needs.powershell,
  async () => {
    const pid = await living();
    assert.ok(isAlive(identity(pid)));
    assert.ok(
      isAlive({ pid, processStart: processStart(pid) }),
      "a file of an earlier version names no place",
    );
    for (const start of ["", "1"])
      assert.equal(isAlive({ pid, processStart: start }), false, `start "${start}"`);
    assert.equal(
      isAlive({ ...identity(pid), place: elsewhere }),
      false,
      "the same number elsewhere is another",
    );
    assert.ok(isRunning(pid));
    for (const none of [0, -1, 1.5, NaN]) assert.equal(isRunning(none), false);
  },
);

test("places: a boot id decides before a name, a PID namespace before both", () => {
  const here = { host: "a", boot: "1", pids: "n" };
  assert.ok(samePlace(here, { ...here, host: "renamed" }));
  assert.equal(samePlace(here, { ...here, boot: "2" }), false);
  assert.equal(samePlace(here, { ...here, pids: "m" }), false);
  assert.ok(samePlace({ ...here, boot: "" }, { ...here, boot: "" }));
  assert.equal(samePlace({ ...here, boot: "" }, { ...here, boot: "", host: "b" }), false);
});

test("a process is ours by its command line, whatever a file says", needs.powershell, async () => {
  const [one, two] = [newRun("cmd/one"), newRun("cmd/two")];
  const ours = await living("worker", one, "--attempt", "0");
  assert.ok(worksOn(ours, ["worker"], one));
  assert.equal(worksOn(ours, ["worker"], two), false);
  assert.equal(worksOn(ours, ["serve", "--store"], one), false);
  const foreign = await living("sleep", one);
  assert.equal(worksOn(foreign, ["worker"], one), false);
  for (const pid of [foreign, await living("worker", `${one}-2`)]) {
    writeWorker(one, { ...identity(pid), ...worker });
    assert.equal(holderOf(one).state, "none");
  }
  writeWorker(one, { ...identity(ours), ...worker });
  assert.equal(holderOf(one).state, "here");
  writeWorker(one, { pid: ours, processStart: "", ...worker });
  assert.equal(holderOf(one).state, "none");
});

test("a holder in another PID namespace counts while its lease or log is touched", () => {
  const folder = newRun("foreign");
  writeFileSync(leasePath(folder), JSON.stringify({ pid: process.pid, processStart: "7", place: elsewhere }));
  assert.equal(holderOf(folder).state, "elsewhere");
  assert.throws(() => takeLease(folder, 1, "0.1.0"), /live .*devbox.*process/);
  utimesSync(leasePath(folder), old, old);
  assert.equal(holderOf(folder).state, "none");
  mkdirSync(join(folder, "log", "0"), { recursive: true });
  writeFileSync(join(folder, "log", "0", "0.seg"), "");
  assert.equal(holderOf(folder).state, "elsewhere", "it writes its log");
  utimesSync(join(folder, "log", "0", "0.seg"), old, old);
  const lease = takeLease(folder, 1, "0.1.0");
  assert.doesNotThrow(() => lease.check());
  writeFileSync(leasePath(folder), JSON.stringify({ pid: 1, processStart: "7", place: elsewhere, id: "x" }));
  assert.throws(() => lease.check(), /taken this run over/);
  lease.release();
  assert.equal(readLock(leasePath(folder))?.id, "x", "another's lease stays");
});

test("a worker gives signs of life while its own thread is busy", async () => {
  const folder = newRun("busy");
  const lease = takeLease(folder, 0, "0.1.0");
  try {
    utimesSync(leasePath(folder), old, old);
    await until(async () => {
      // This thread is taken for most of the time, as by a session run.
      Atomics.wait(new Int32Array(new SharedArrayBuffer(4)), 0, 0, 500);
      const { statSync } = await import("node:fs");
      return statSync(leasePath(folder)).mtimeMs > old.getTime() + 1000;
    }, "a touch");
    assert.deepEqual(readLock(leasePath(folder))?.place, ownPlace());
    assert.match(readFileSync(join(folder, "worker.json"), "utf8"), /"boot"/);
  } finally {
    lease.release();
  }
});

test(
  "a lease that was released has no file open: Windows would not remove the run's folder",
  needs.proc,
  () => {
    const folder = newRun("released");
    takeLease(folder, 0, "0.1.0").release();
    // The look itself has one of them open, which is closed by then.
    const open = readdirSync("/proc/self/fd")
      .map((name) => join("/proc/self/fd", name))
      .filter((link) => lstatSync(link, { throwIfNoEntry: false }) !== undefined)
      .map((link) => readlinkSync(link));
    assert.ok(
      open.every((file) => !file.startsWith(folder)),
      open.join(),
    );
  },
);

test("a lock of another place is held while touched, then taken", () => {
  const path = join(base, "lock");
  const held = takeLock(path, { owner: { ...ownIdentity(), place: elsewhere } });
  assert.equal(held.state, "taken");
  assert.ok(isHolding({ pid: 1, processStart: "", place: elsewhere }, path));
  assert.equal(takeLock(path).state, "held");
  utimesSync(path, old, old);
  if (held.state === "taken") held.lock.touch();
  assert.equal(takeLock(path).state, "held", "touched again");
  utimesSync(path, old, old);
  assert.equal(takeLock(path).state, "taken");
});
