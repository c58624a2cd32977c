import assert from "node:assert/strict";
import { existsSync, mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { after, test } from "node:test";
import type { Database } from "../../../server/store/drivers/database.ts";
import { openDatabase } from "../../../server/store/drivers/driver.ts";
import { needs } from "../../support/system.ts";
import { textOf, wholeText } from "../../../server/store/drivers/statements.ts";

const base = mkdtempSync(join(tmpdir(), "gradus-driver-"));
const opened: Database[] = [];
after(() => {
  opened.forEach((database) => database.close());
  rmSync(base, { recursive: true, force: true });
});
let files = 0;
function fresh(): { database: Database; path: string } {
  // Windows has no `?` in names.
  const name = process.platform === "win32" ? "a #%20" : "a #%20?";
  const path = join(base, `${name}${files++}.sqlite`);
  const { database } = openDatabase(path, { anyThread: true });
  opened.push(database);
  database.exec("CREATE TABLE t(id INTEGER PRIMARY KEY, x REAL, s TEXT, b BLOB) STRICT");
  return { database, path };
}

const sqlite = "skip" in needs.nativeSqlite ? "node-sqlite3-wasm" : "better-sqlite3";
test("the driver that was asked for is the one that answers", () => {
  const { driver, database } = openDatabase(join(base, "named.sqlite"), { anyThread: true });
  opened.push(database);
  assert.ok(driver.startsWith(process.env["GRADUS_SQLITE"] ?? sqlite), driver);
});

test("values come back as they went in: rows hold their columns and nothing else", () => {
  const { database } = fresh();
  const add = database.prepare("INSERT INTO t VALUES (?, ?, ?, ?)");
  const blob = Buffer.from([0, 255, 0, 1]);
  const texts = ["é 😀\u2028", "", "it's"];
  const numbers = [0.1, Number.NEGATIVE_INFINITY, Number.MAX_VALUE];
  texts.forEach((text, index) => {
    const { changes, lastInsertRowid } = add.run(2 ** 52 + index, numbers[index], text, blob);
    assert.deepEqual(
      { changes, lastInsertRowid: Number(lastInsertRowid) },
      { changes: 1, lastInsertRowid: 2 ** 52 + index },
    );
  });
  add.run(7, Number.NaN, null, Buffer.alloc(0));
  const all = database.prepare("SELECT * FROM t ORDER BY id").all();
  assert.deepEqual(all, [
    { id: 7, x: null, s: null, b: Buffer.alloc(0) },
    ...texts.map((s, index) => ({ id: 2 ** 52 + index, x: numbers[index], s, b: blob })),
  ]);
  const one = database.prepare("SELECT * FROM t WHERE id = @id");
  assert.deepEqual(one.get({ id: 7 }), all[0]);
  assert.equal(one.get({ id: 8 }), undefined);
});

test("a text that holds a NUL is read whole as a blob", () => {
  const { database } = fresh();
  database.prepare("INSERT INTO t(s) VALUES (?)").run("a\0b");
  const found = database.prepare(`SELECT ${wholeText("s", "s")} FROM t`).get() as { readonly s: Buffer };
  assert.equal(textOf(found.s), "a\0b");
});

test("a value that no column can hold is refused and leaves the statement usable", () => {
  const { database } = fresh();
  const add = database.prepare("INSERT INTO t(x) VALUES (?)");
  for (const value of [true, {}, () => 1, Symbol("s"), 2n ** 64n])
    assert.throws(() => add.run(value), Error, typeof value);
  const named = database.prepare("INSERT INTO t(x) VALUES (@x)");
  for (const values of [[{ x: false }], [{}], [{ y: 1 }], [1], []]) assert.throws(() => named.run(...values));
  for (const values of [[], [1, 2]]) assert.throws(() => add.run(...values));
  add.run(1);
  assert.deepEqual(database.prepare("SELECT count(*) AS n FROM t").get(), { n: 1 });
});

test("a transaction is whole or not at all, and the next one begins", () => {
  const { database } = fresh();
  const add = database.prepare("INSERT INTO t(id) VALUES (?)");
  assert.throws(
    () =>
      database.transaction(() => {
        add.run(1);
        add.run(1);
      }),
    /UNIQUE/,
  );
  assert.equal(
    database.transaction(() => add.run(2).changes),
    1,
  );
  assert.deepEqual(database.prepare("SELECT id FROM t").all(), [{ id: 2 }]);
});

test("a row that was read keeps nothing locked", () => {
  const { database, path } = fresh();
  database.prepare("INSERT INTO t(id) VALUES (1), (2), (3)").run();
  assert.deepEqual(database.prepare("SELECT id FROM t").get(), { id: 1 });
  const other = openDatabase(path, { anyThread: true }).database;
  opened.push(other);
  other.transaction(() => other.prepare("DELETE FROM t WHERE id = ?").run(1));
  assert.deepEqual(database.prepare("SELECT id FROM t").all(), [{ id: 2 }, { id: 3 }]);
  database.transaction(() => database.prepare("DELETE FROM t WHERE id = ?").run(2));
  assert.equal(database.pragma("wal_checkpoint(TRUNCATE)"), 0);
});

test("read only: nothing is written, no file is made", () => {
  const { path } = fresh();
  const { database } = openDatabase(path, { anyThread: true, readonly: true });
  opened.push(database);
  assert.deepEqual(database.prepare("SELECT count(*) AS n FROM t").get(), { n: 0 });
  assert.throws(() => database.prepare("INSERT INTO t(id) VALUES (1)").run(), /readonly/);
  const absent = join(base, "absent.sqlite");
  assert.throws(() => openDatabase(absent, { anyThread: true, readonly: true }), /cannot be opened/);
  assert.ok(!existsSync(absent));
});

test("a closed database answers no more", () => {
  const { database } = fresh();
  const read = database.prepare("SELECT 1 AS n");
  database.close();
  assert.throws(() => read.get(), /not open/);
  assert.throws(() => database.prepare("SELECT 1"), /not open/);
});
