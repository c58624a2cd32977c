/** One store, opened before set-up by SQLite in WebAssembly and afterwards by a native one, and the other way round. */
import assert from "node:assert/strict";
import { spawn, type ChildProcess } from "node:child_process";
import { once } from "node:events";
import { existsSync, mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { after, test } from "node:test";
import { UserError } from "../../../shared/lib/errors.ts";
import { ownIdentity, processStart } from "../../../shared/daemon/process.ts";
import { openDatabase } from "../../../server/store/drivers/driver.ts";
import { holdPath, type DriverKind } from "../../../server/store/drivers/hold.ts";
import { sqliteDriver, type SqliteDriver } from "../../../server/lib/natives.ts";
import { Store } from "../../../server/store/store.ts";
import { newFolder, plain, values, write } from "./support.ts";
import { needs } from "../../support/system.ts";

const base = mkdtempSync(join(tmpdir(), "gradus-take-over-"));
const children: ChildProcess[] = [];
after(() => {
  for (const child of children) child.kill("SIGKILL");
  rmSync(base, { recursive: true, force: true });
});
delete process.env["GRADUS_SQLITE"];
const native = sqliteDriver();

function using<Result>(driver: SqliteDriver, act: () => Result): Result {
  process.env["GRADUS_SQLITE"] = driver;
  try {
    return act();
  } finally {
    delete process.env["GRADUS_SQLITE"];
  }
}
const open = (driver: SqliteDriver, path: string) =>
  using(driver, () => openDatabase(path, { anyThread: true }));

/** A process of another program, as the holder of a file. */
function holder(path: string, kind: DriverKind): ChildProcess {
  const child = spawn(process.execPath, ["-e", "setInterval(() => undefined, 1e6)"], { stdio: "ignore" });
  children.push(child);
  const { pid } = child;
  assert.ok(pid !== undefined);
  writeFileSync(holdPath(path), JSON.stringify({ pid, processStart: processStart(pid), kind }));
  return child;
}
async function end(child: ChildProcess): Promise<void> {
  child.kill("SIGKILL");
  await once(child, "exit");
}

test(
  "a store that was read before set-up goes on with the native SQLite, and back",
  needs.nativeSqlite,
  () => {
    const folder = newFolder();
    const count = (driver: SqliteDriver, last: number): void => {
      const store = using(driver, () => new Store(folder, { anyThread: true, owned: true }));
      try {
        assert.ok(store.driver.startsWith(driver), store.driver);
        store.scan();
        store.ingestAll("r1");
        assert.deepEqual(values(store, "r1")?.steps.at(-1), last);
      } finally {
        store.close();
      }
      assert.ok(!existsSync(holdPath(join(folder, "store.sqlite"))), "a closed store is held by no process");
    };
    write(folder, "r1", 1, plain(0, 40));
    count("node-sqlite3-wasm", 39);
    write(folder, "r1", 2, plain(40, 20));
    count(native, 59);
    write(folder, "r1", 3, plain(60, 20));
    count("node-sqlite3-wasm", 79);
    count(native, 79);
  },
);

test("what a killed native process left in its write-ahead log is read", needs.nativeSqlite, async () => {
  const path = join(base, "killed.sqlite");
  const program = `
    const Database = require(${JSON.stringify(join(process.cwd(), "node_modules", "better-sqlite3"))});
    const binding = process.argv[1];
    const database = new Database(${JSON.stringify(path)}, binding === "" ? {} : { nativeBinding: binding });
    database.pragma("journal_mode = WAL");
    database.exec("CREATE TABLE t(x); INSERT INTO t VALUES (7)");
    console.log("written");
    setInterval(() => undefined, 1e6);`;
  const { sqliteBinding } = await import("../../../server/lib/natives.ts");
  const child = spawn(process.execPath, ["-e", program, sqliteBinding() ?? ""], {
    stdio: ["ignore", "pipe", "inherit"],
  });
  children.push(child);
  await once(child.stdout!, "data");
  await end(child);
  assert.ok(readFileSync(`${path}-wal`).length > 0);
  const { database } = open("node-sqlite3-wasm", path);
  assert.deepEqual(database.prepare("SELECT x FROM t").all(), [{ x: 7 }]);
  database.close();
});

test("a lock that a killed process left is not in the way", needs.nativeSqlite, () => {
  const path = join(base, "left.sqlite");
  open("node-sqlite3-wasm", path).database.close();
  mkdirSync(`${path}.lock`);
  writeFileSync(holdPath(path), JSON.stringify({ ...ownIdentity(), pid: 2 ** 22 + 1, kind: "wasm" }));
  const { database } = open("node-sqlite3-wasm", path);
  database.exec("CREATE TABLE t(x)");
  database.close();
  writeFileSync(holdPath(path), "{half");
  open(native, path).database.close();
});

test("the two kinds never have a file together", needs.nativeSqlite, async () => {
  const path = join(base, "shared.sqlite");
  const cases: readonly (readonly [DriverKind, SqliteDriver, boolean])[] = [
    ["wasm", "node-sqlite3-wasm", false],
    ["wasm", native, false],
    ["native", "node-sqlite3-wasm", false],
    ["native", native, true],
  ];
  for (const [kind, driver, allowed] of cases) {
    const child = holder(path, kind);
    if (allowed) open(driver, path).database.close();
    else
      assert.throws(
        () => open(driver, path),
        (error: unknown) => error instanceof UserError && error.message.includes(`${child.pid}`),
        `${driver} next to ${kind}`,
      );
    await end(child);
    open(driver, path).database.close();
    assert.ok(!existsSync(holdPath(path)) || allowed);
    rmSync(holdPath(path), { force: true });
  }
});
