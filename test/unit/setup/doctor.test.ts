import assert from "node:assert/strict";
import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterEach, beforeEach, test } from "node:test";
import {
  checkData,
  checkEngine,
  checkNode,
  checkSqlite,
  checkStore,
  isSupported,
} from "../../../server/cli/doctor/checks.ts";
import { recordedNode, setupRecord, sqliteBinding, sqliteDriver } from "../../../server/lib/natives.ts";
import { needs } from "../../support/system.ts";

let folder: string;
const saved = { ...process.env };
beforeEach(() => (folder = mkdtempSync(join(tmpdir(), "gradus-doctor-"))));
afterEach(() => {
  for (const name of ["GRADUS_DATA", "GRADUS_NATIVE_ROOT"]) {
    const value = saved[name];
    if (value === undefined) Reflect.deleteProperty(process.env, name);
    else process.env[name] = value;
  }
  rmSync(folder, { recursive: true });
});

test("Node is supported from 20.19 on", () => {
  assert.deepEqual(["18.20.4", "20.18.9", "20.19.0", "22.0.0"].map(isSupported), [false, false, true, true]);
});

test("the nearest store above is found, else the place of the first one", () => {
  mkdirSync(join(folder, "a", "b"), { recursive: true });
  assert.match(checkStore(join(folder, "a", "b")).detail, /none yet; the first run makes .*b.\.gradus$/);
  mkdirSync(join(folder, ".gradus"));
  assert.equal(checkStore(join(folder, "a", "b")).detail, join(folder, ".gradus"));
});

test("a data folder that cannot be made is missing and says what to do", () => {
  writeFileSync(join(folder, "file"), "");
  process.env["GRADUS_DATA"] = join(folder, "file", "data");
  const check = checkData();
  assert.equal(check.status, "missing");
  assert.match(check.fix ?? "", /GRADUS_DATA/);
});

test("without native packages the engine is missing, with its command, and SQLite is the carried one", async () => {
  mkdirSync(join(folder, "node_modules"));
  process.env["GRADUS_NATIVE_ROOT"] = folder;
  const engine = await checkEngine();
  assert.equal(engine.status, "missing");
  assert.equal(engine.backend, "wasm");
  assert.match(engine.detail, /WebAssembly.*it is not installed/);
  assert.equal(engine.fix, "npm run setup");
  assert.equal(checkNode().status, "optional");
  const sqlite = await checkSqlite();
  assert.equal(sqlite.status, "ok");
  assert.match(sqlite.detail, /^node-sqlite3-wasm \d/);
});

const record = (change: object): void => {
  mkdirSync(join(folder, "node_modules", ".gradus"), { recursive: true });
  const whole = {
    node: { path: process.execPath, version: "1.2.3", abi: "1" },
    sqlite: { driver: "libsql", reason: "no compiler" },
    engine: { backend: "wasm", reason: "no compiler", mend: "install one" },
    ...change,
  };
  writeFileSync(join(folder, "node_modules", ".gradus", "setup.json"), JSON.stringify(whole));
};

test("the record names the Node while it exists, and the reason of a fallback", async () => {
  process.env["GRADUS_NATIVE_ROOT"] = folder;
  record({});
  assert.equal(recordedNode()?.version, "1.2.3");
  assert.match(checkNode().detail, /the daemon and runs use 1\.2\.3/);
  const { detail, fix: mend } = await checkEngine();
  assert.match(detail, /no compiler/);
  assert.equal(mend, "install one");
  record({ node: { path: join(folder, "gone"), version: "1.2.3", abi: "1" } });
  assert.equal(recordedNode(), undefined);
  record({ node: "another format" });
  assert.equal(setupRecord(), undefined);
});

for (const [system, reason, instead] of [
  ["darwin-x64", /Intel/, /^train on another machine by Remote-SSH, or in a dev container/],
  ["win32-arm64", /Windows on ARM/, /^train in WSL, which has the engine of Linux on ARM/],
  ["linux-x64-musl", /musl/, /dev container of Debian/],
] as const)
  test(`on ${system} no engine is missing: it is said how slow it is, why, and where else`, async () => {
    const { status, backend, detail, fix = "" } = await checkEngine(system);
    assert.deepEqual([status, backend], ["optional", "wasm"]);
    assert.match(detail, /^WebAssembly, ten to twenty times slower: /);
    assert.match(detail, reason);
    assert.match(fix, instead);
    assert.doesNotMatch(fix, /install/);
  });

test("libsql is taken only where it was recorded and no binding was built", () => {
  const manifest = join(folder, "node_modules", "better-sqlite3", "package.json");
  mkdirSync(join(manifest, ".."), { recursive: true });
  writeFileSync(manifest, JSON.stringify({ version: "9.9.9" }));
  process.env["GRADUS_NATIVE_ROOT"] = folder;
  process.env["GRADUS_DATA"] = folder;
  assert.equal(sqliteDriver(), "node-sqlite3-wasm");
  record({});
  assert.equal(sqliteDriver(), "node-sqlite3-wasm", "recorded, and gone since");
  mkdirSync(join(folder, "node_modules", "libsql"));
  writeFileSync(join(folder, "node_modules", "libsql", "package.json"), JSON.stringify({ version: "1.0.0" }));
  assert.equal(sqliteDriver(), "libsql");
  const built = join(
    folder,
    "native",
    `better-sqlite3-9.9.9-abi${process.versions.modules}-${process.platform}-${process.arch}`,
    "better_sqlite3.node",
  );
  mkdirSync(join(built, ".."), { recursive: true });
  writeFileSync(built, "");
  assert.equal(sqliteBinding(), built);
  assert.equal(sqliteDriver(), "better-sqlite3");
  process.env["GRADUS_SQLITE"] = "libsql";
  assert.equal(sqliteDriver(), "libsql");
  delete process.env["GRADUS_SQLITE"];
});

test("SQLite is proved by opening a database", needs.nativeSqlite, async () => {
  const { status, detail } = await checkSqlite();
  assert.equal(status, "ok", detail);
  assert.match(detail, /SQLite 3\./);
});
