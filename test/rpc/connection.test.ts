import assert from "node:assert/strict";
import { spawn } from "node:child_process";
import {
  chmodSync,
  existsSync,
  mkdirSync,
  readFileSync,
  rmSync,
  statSync,
  symlinkSync,
  writeFileSync,
} from "node:fs";
import { join } from "node:path";
import { once } from "node:events";
import { afterEach, beforeEach, test } from "node:test";
import { connectExisting, connectOrStart } from "../../shared/daemon/connect.ts";
import { writeDiscovery } from "../../shared/daemon/discovery.ts";
import { linkOver, shakeHands } from "../../shared/daemon/handshake.ts";
import { takeLock } from "../../shared/daemon/lock.ts";
import { isRunning, processStart } from "../../shared/daemon/process.ts";
import { ask } from "../../shared/daemon/request.ts";
import { runtimeFolder, runtimePaths } from "../../shared/daemon/runtime.ts";
import {
  changed,
  daemonShutdown,
  daemonStatus,
  metricsSeries,
  runsControl,
  runsList,
  subscribe,
  type Change,
} from "../../shared/protocol/protocol.ts";
import type { UserError } from "../../shared/lib/errors.ts";
import { Sandbox, kill, until } from "./daemon.ts";

let box: Sandbox;
beforeEach(async () => {
  box = await Sandbox.make();
});
afterEach(() => box.end());
const code =
  (wanted: string) =>
  (error: UserError): boolean =>
    error.detail.code === wanted;

test("of several starters at once one daemon comes, its files closed to others and its token nowhere else", async () => {
  const links = await Promise.all([1, 2, 3, 4].map(() => box.link()));
  assert.equal(new Set(links.map(({ hello }) => hello.instance)).size, 1);
  const found = box.discovery();
  assert.ok(found !== null);
  const paths = runtimePaths(box.store);
  assert.equal(statSync(paths.discovery).mode & 0o777, 0o600);
  assert.equal(statSync(runtimeFolder()).mode & 0o777, 0o700);
  assert.equal(statSync(found.socketPath).mode & 0o777, 0o600);
  assert.ok(Buffer.byteLength(found.socketPath) < 95);
  assert.ok(!box.log().includes(found.token));
  if (process.platform === "linux") {
    assert.ok(!readFileSync(`/proc/${found.pid}/cmdline`, "utf8").includes(found.token));
    assert.ok(!readFileSync(`/proc/${found.pid}/environ`, "utf8").includes(found.token));
  }
  assert.equal((box.log().match(/serving/g) ?? []).length, 1);
});

test("a session with another runtime folder learns who serves the store, and leaves it alone", async () => {
  const connection = await box.connect();
  const { pid } = await ask(connection, daemonStatus, {});
  const seen = process.env["XDG_RUNTIME_DIR"];
  const other = join(box.base, "other");
  mkdirSync(other, { mode: 0o700 });
  process.env["XDG_RUNTIME_DIR"] = other;
  try {
    await assert.rejects(
      connectOrStart(box.wish()),
      new RegExp(`Another daemon \\(pid ${pid}\\) serves this store`),
    );
  } finally {
    process.env["XDG_RUNTIME_DIR"] = seen;
  }
  assert.equal((await ask(connection, daemonStatus, {})).pid, pid);
});

test("a wrong token is refused and the connection closed; the daemon goes on", async () => {
  const connection = await box.connect();
  const found = box.discovery();
  assert.ok(found !== null);
  await assert.rejects(
    shakeHands({ ...found, token: "0".repeat(64) }, { role: "command", version: "0.1.0" }),
    code("bad-token"),
  );
  assert.equal((await ask(connection, daemonStatus, {})).clients, 1);
});

test("nothing is answered before hello, and wrong parameters are named", async () => {
  const connection = await box.connect();
  await assert.rejects(connection.sendRequest("gradus/runs/list", { limit: "many" }), /limit/);
  await assert.rejects(
    connection.sendRequest("gradus/metrics/names", { run: "nothing" }),
    (error: Error & { code: number; data: { action: string } }) =>
      error.code === -33003 && error.data.action.includes("gradus runs list"),
  );
  const { createConnection } = await import("node:net");
  const socket = createConnection(box.discovery()?.socketPath ?? "");
  await once(socket, "connect");
  const silent = linkOver(socket, (await box.link()).hello, "full").connection();
  await assert.rejects(silent.sendRequest("gradus/runs/list", {}), /hello must come first/);
});

test("stale discovery files: a dead pid, a foreign live pid, and a file that is no file", async () => {
  const paths = runtimePaths(box.store);
  const template = {
    instance: "00000000-stale",
    startedAt: "2020-01-01T00:00:00Z",
    socketPath: paths.socket("00000000"),
    token: "x",
    protocol: 1,
    version: "0.1.0",
    node: "node",
  };
  const foreign = spawn(process.execPath, ["-e", "setInterval(() => {}, 1000)"]);
  const dead = spawn(process.execPath, ["-e", ""]);
  await once(dead, "exit");
  try {
    const pid = foreign.pid ?? 0;
    for (const identity of [
      { pid: dead.pid ?? 1, processStart: "1" },
      { pid, processStart: "1" },
      { pid, processStart: processStart(pid) },
    ]) {
      writeDiscovery(paths.discovery, { ...template, ...identity });
      assert.equal(await connectExisting(box.wish()), null);
    }
    writeFileSync(paths.discovery, "{ half");
    const link = await box.link();
    assert.equal((await ask(link.connection(), runsList, {})).runs.length, 0);
    assert.ok(isRunning(pid), "a foreign process is left alone");
  } finally {
    kill(foreign.pid ?? 0, "SIGKILL");
  }
});

test("a stale lock is taken over, a living holder's is not, and an old one of a starter that hangs is", async () => {
  const path = join(box.base, "lock");
  writeFileSync(path, JSON.stringify({ pid: process.pid, processStart: "1", id: "x" }));
  const first = takeLock(path);
  assert.equal(first.state, "taken");
  assert.equal(takeLock(path).state, "held");
  assert.equal(takeLock(path, { maximumAge: -1 }).state, "taken");
  if (first.state === "taken") first.lock.release();
  assert.ok(existsSync(path), "only its holder removes a lock");
});

test("an idle older daemon is replaced, a busy one is kept and attached to", async () => {
  const old = await box.link();
  const replaced = await box.link({ version: "9.0.0" });
  assert.notEqual(replaced.hello.instance, old.hello.instance);
  assert.equal(isRunning(old.hello.pid), false);
  const connection = replaced.connection();
  const run = await box.start(connection, 100_000, 20);
  await box.reach(connection, run, ({ step }) => step >= 1);
  const beside = await box.link({ version: "9.0.0" });
  assert.deepEqual(
    { mode: beside.mode, instance: beside.hello.instance },
    { mode: "limited", instance: replaced.hello.instance },
  );
  const limited = beside.connection();
  assert.deepEqual(await ask(limited, daemonShutdown, {}), { accepted: false, reason: "a run is live" });
  await ask(limited, runsControl, { run, action: "stop" });
  await box.reach(limited, run, ({ status }) => status === "stopped");
});

test("another protocol: a later client is served in part, an earlier one is asked to update", async () => {
  await box.link();
  const found = box.discovery();
  assert.ok(found !== null);
  const later = await shakeHands(found, { role: "command", version: "9.0.0", protocol: 2 });
  assert.equal(later.mode, "limited");
  later.close();
  await assert.rejects(
    shakeHands(found, { role: "command", version: "0.0.1", protocol: 0 }),
    code("wrong-protocol"),
  );
});

test("a runtime folder that is open to others, or a link, is refused with what to do", async () => {
  const folder = runtimeFolder();
  chmodSync(folder, 0o755);
  await assert.rejects(
    connectExisting(box.wish()),
    (error: UserError) =>
      error.detail.code === "runtime-folder" && (error.detail.action ?? "").includes("chmod 700"),
  );
  rmSync(folder, { recursive: true });
  mkdirSync(join(box.base, "elsewhere"), { mode: 0o700 });
  symlinkSync(join(box.base, "elsewhere"), folder);
  await assert.rejects(connectExisting(box.wish()), /symbolic link/);
  rmSync(folder);
});

test("a daemon that cannot start says why at once", async () => {
  mkdirSync(join(box.store, "store.sqlite"));
  await assert.rejects(
    box.link(),
    (error: UserError) =>
      error.detail.code === "daemon-not-started" && /rebuilt from the run logs/.test(error.message),
  );
});

test("clients leave, say exit or are killed: the daemon and the others live on", async () => {
  const steady = await box.connect();
  const { pid } = (await box.link()).hello;
  const leaving = await box.link();
  leaving.close();
  const editor = (await box.link({ role: "editor" })).connection();
  const gone = new Promise<void>((resolve) => editor.onClose(resolve));
  const client = spawn(process.execPath, ["-e", "setInterval(() => {}, 1000)"]);
  const answer = await editor.sendRequest<{ capabilities: object }>("initialize", {
    processId: client.pid,
    rootUri: null,
    capabilities: {},
  });
  assert.ok(answer.capabilities);
  kill(client.pid ?? 0, "SIGKILL");
  await once(client, "exit");
  await editor.sendNotification("exit");
  await gone;
  const second = (await box.link({ role: "editor" })).connection();
  await second.sendRequest("initialize", { processId: null, rootUri: null, capabilities: {} });
  await second.sendRequest("shutdown");
  await second.sendNotification("exit");
  // A command line that is killed in the middle of following.
  const run = await box.start(steady, 100_000, 20);
  const follower = box.spawn(["runs", "follow", run, "--json"]);
  const [text] = await once(follower.stdout ?? process.stdin, "data");
  assert.equal(JSON.parse(String(text).split("\n")[0] ?? "").type, "started");
  kill(follower.pid ?? 0, "SIGKILL");
  await once(follower, "exit");
  await until(
    async () => ((await ask(steady, daemonStatus, {})).clients === 2 ? true : null),
    "the others to be gone",
  );
  assert.equal((await ask(steady, daemonStatus, {})).pid, pid);
  await ask(steady, runsControl, { run, action: "stop" });
  await box.reach(steady, run, ({ status }) => status === "stopped");
});

test("the language server answers on an editor's connection next to gradus/*", async () => {
  const connection = (await box.link({ role: "editor" })).connection();
  const published = new Promise<{ uri: string; diagnostics: readonly unknown[] }>((resolve) =>
    connection.onNotification("textDocument/publishDiagnostics", resolve),
  );
  await connection.sendRequest("initialize", { processId: process.pid, rootUri: null, capabilities: {} });
  await connection.sendNotification("initialized", {});
  await connection.sendNotification("textDocument/didOpen", {
    textDocument: { uri: `file://${box.file}`, languageId: "gradus-yaml", version: 1, text: "nme: x\n" },
  });
  assert.ok((await published).diagnostics.length > 0);
  assert.deepEqual((await ask(connection, runsList, {})).runs, []);
});

test("a client that does not read holds up no other, and loses nothing when it reads again", async () => {
  const quick = await box.connect();
  const slowLink = await box.link();
  const slow = slowLink.connection();
  const seen = { quick: [] as Change[], slow: [] as Change[] };
  for (const [name, connection] of [
    ["quick", quick],
    ["slow", slow],
  ] as const) {
    connection.onNotification(
      changed.method,
      (batch: { changes: Change[] }) => void seen[name].push(...batch.changes),
    );
    await ask(connection, subscribe, {});
  }
  slowLink.socket.pause();
  const run = await box.start(quick, 400, 1);
  await box.reach(quick, run, ({ status }) => status === "finished");
  await until(
    async () => (seen.quick.some(({ summary }) => summary?.status === "finished") ? true : null),
    "the quick client",
  );
  assert.equal(seen.slow.length, 0);
  slowLink.socket.resume();
  await until(
    async () => (seen.slow.some(({ summary }) => summary?.status === "finished") ? true : null),
    "the slow client",
  );
  for (const changes of [seen.quick, seen.slow])
    assert.deepEqual(
      changes.filter(({ kind }) => kind === "step").map(({ step }) => step),
      Array.from({ length: 400 }, (_, step) => step),
    );
});

test("an idle daemon ends by itself and removes its own files; SIGTERM ends it too, and runs go on", async () => {
  const link = await box.link({ environment: { GRADUS_IDLE_MS: "100" } });
  const paths = runtimePaths(box.store);
  const { pid } = link.hello;
  link.close();
  await until(async () => (isRunning(pid) ? null : true), "the idle daemon");
  assert.equal(existsSync(paths.discovery) || existsSync(paths.ownerLock), false);
  const connection = await box.connect();
  const run = await box.start(connection, 100_000, 20);
  await box.reach(connection, run, ({ step }) => step >= 1);
  const second = box.discovery();
  kill(second?.pid ?? 0, "SIGTERM");
  await until(async () => (isRunning(second?.pid ?? 0) ? null : true), "the daemon");
  assert.equal(existsSync(paths.discovery) || existsSync(second?.socketPath ?? ""), false);
  assert.ok(isRunning(box.workerOf(run)));
  const again = await box.connect();
  const [series] = (await ask(again, metricsSeries, { run, metrics: ["reward/total"] })).series;
  assert.ok((series?.total ?? 0) > 0);
});
