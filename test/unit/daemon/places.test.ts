/** Where a daemon and its workers lie on each system: socket, lock, working folder, store. */
import assert from "node:assert/strict";
import { mkdirSync, mkdtempSync, readdirSync, rmSync, writeFileSync } from "node:fs";
import { homedir, tmpdir } from "node:os";
import { join, parse } from "node:path";
import { after, test } from "node:test";
import { workingFolder } from "../../../server/daemon/worker.ts";
import { readLock, takeLock } from "../../../shared/daemon/lock.ts";
import { refuseLong } from "../../../shared/daemon/longStore.ts";
import { restingFolder } from "../../../shared/daemon/restingFolder.ts";
import { runtimeFolderOf, socketPathOf } from "../../../shared/daemon/runtime.ts";

const base = mkdtempSync(join(tmpdir(), "gradus-places-"));
after(() => rmSync(base, { recursive: true, force: true }));

const [key, instance] = ["0123456789abcdef", "01234567-89ab-cdef-0123-456789abcdef"];
const deep = `/var/${"folders/".repeat(20)}T`;

test("a socket's path is short enough on every system, whatever the temporary folder", () => {
  for (const [platform, bytes] of [
    ["linux", 108],
    ["darwin", 104],
  ] as const)
    for (const own of [undefined, "", "/run/user/1000", deep])
      for (const temporary of [
        "/tmp",
        "/var/folders/zz/zyxvpxvq6csfxvn_n0000000000000/T",
        deep,
        `/${"ü".repeat(60)}`,
      ]) {
        const folder = runtimeFolderOf({ platform, own, temporary, user: "4294967295" });
        const socket = socketPathOf(folder, key, instance, platform);
        assert.ok(Buffer.byteLength(socket) < bytes, socket);
        assert.match(socket, /^\/.*\/0123456789abcdef-01234567\.sock$/);
      }
});

test("the folder is the session's own, else the temporary one, and a pipe of Windows lies in none", () => {
  const linux = { platform: "linux", temporary: "/tmp", user: "1000" } as const;
  assert.equal(runtimeFolderOf({ ...linux, own: "/run/user/1000" }), "/run/user/1000/gradus");
  assert.equal(runtimeFolderOf({ ...linux, own: undefined }), "/tmp/gradus-1000");
  assert.equal(runtimeFolderOf({ ...linux, own: undefined, temporary: deep }), "/tmp/gradus-1000");
  const windows = runtimeFolderOf({
    platform: "win32",
    own: undefined,
    temporary: `C:\\Users\\Ann Lee\\${"deep\\".repeat(20)}Temp`,
    user: "Ann Lee",
  });
  assert.match(windows, /^C:\\Users\\Ann Lee\\.*\\Temp\\gradus-Ann Lee$/);
  assert.equal(
    socketPathOf(windows, key, instance, "win32"),
    "\\\\.\\pipe\\gradus-0123456789abcdef-01234567",
  );
});

test("a lock is taken once on a disk without links, too", () => {
  const path = join(base, "start.lock");
  const link = (): void => {
    throw Object.assign(new Error("EPERM: operation not permitted, link"), { code: "EPERM" });
  };
  const first = takeLock(path, { link });
  assert.equal(first.state, "taken");
  assert.equal(takeLock(path, { link }).state, "held");
  assert.equal(takeLock(path).state, "held");
  if (first.state === "taken") first.lock.release();
  assert.equal(readLock(path), null);
  writeFileSync(path, "half of a lock");
  assert.equal(takeLock(path, { link }).state, "taken", "a stale one");
  assert.deepEqual(readdirSync(base), ["start.lock"], "no draft is left");
});

test("a worker works in its config's folder, and never in the store", () => {
  const project = join(base, "project");
  const run = join(project, ".gradus", "runs", "one");
  const brought = join(run, "mirror", ".config");
  mkdirSync(brought, { recursive: true });
  assert.equal(workingFolder(run, project), project);
  for (const other of [brought, join(base, "gone")]) assert.equal(workingFolder(run, other), restingFolder());
  assert.equal(restingFolder(homedir()), homedir());
  assert.equal(restingFolder(join(base, "gone")), parse(process.execPath).root);
});

test("a store whose path leaves SQLite no room on Windows is refused, with what to do", () => {
  const store = `C:\\${"x".repeat(240)}\\.gradus`;
  assert.throws(() => refuseLong(store, "win32"), /251 characters, and Windows leaves room for 238/);
  refuseLong(store, "linux");
  refuseLong("C:\\g\\.gradus", "win32");
});
