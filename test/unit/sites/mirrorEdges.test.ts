/** What a mirror does where a site is another than it seems, or says what it should not. */
import assert from "node:assert/strict";
import {
  appendFileSync,
  existsSync,
  readFileSync,
  readdirSync,
  rmSync,
  statSync,
  truncateSync,
  utimesSync,
  writeFileSync,
} from "node:fs";
import { join } from "node:path";
import { describe, it } from "node:test";
import { here } from "../../../server/sites/here.ts";
import { Mirror } from "../../../server/sites/mirror.ts";
import { until } from "../../support/until.ts";
import { Breaking, pair } from "./mirrorPair.ts";

describe("a mirror of a site", () => {
  it("follows a file that is named, with its log", async () => {
    const { base, file } = pair();
    const root = join(base, "single");
    for (const name of ["sums.db", "sums.db-wal", "other.db"]) writeFileSync(file(name), name.repeat(100));
    const mirror = new Mirror(here(), file("sums.db"), root);
    await mirror.pull();
    assert.equal(mirror.local, join(root, "sums.db"));
    assert.deepEqual(readdirSync(root).sort(), [".mirror", "sums.db", "sums.db-wal"]);
    // Written back into the database: the log is gone.
    writeFileSync(file("sums.db"), "written back".repeat(100));
    rmSync(file("sums.db-wal"));
    await mirror.pull();
    assert.deepEqual(readdirSync(root).sort(), [".mirror", "sums.db"]);
    assert.equal(readFileSync(mirror.local, "utf8"), "written back".repeat(100));
  });

  it("takes a database and its log together, or neither", async () => {
    const shell = new Breaking();
    const { file, copy, same, again } = pair(shell);
    for (const name of ["a.db", "a.db-wal"]) writeFileSync(file(name), "first");
    const mirror = again();
    await mirror.pull();
    for (const name of ["a.db", "a.db-wal"]) writeFileSync(file(name), "second");
    const before = shell.asked;
    // The log is written to while the database is brought.
    shell.before = (asked) => asked === before + 2 && appendFileSync(file("a.db-wal"), "third");
    await mirror.pull();
    for (const name of ["a.db", "a.db-wal"]) assert.equal(readFileSync(copy(name), "utf8"), "first");
    await mirror.pull();
    for (const name of ["a.db", "a.db-wal"]) same(name);
    shell.before = () => undefined;
    // A log that has not changed for long is there all the same.
    const { ctimeMs } = statSync(file("a.db-wal"));
    await until(() => {
      writeFileSync(file("a.db"), "fourth");
      return statSync(file("a.db")).ctimeMs > ctimeMs + 3_500;
    }, "the file system's clock");
    await mirror.pull();
    for (const name of ["a.db", "a.db-wal"]) same(name);
    writeFileSync(file("a.db"), "fifth");
    await mirror.pull();
    for (const name of ["a.db", "a.db-wal"]) same(name);
    writeFileSync(file("a.db"), "written back");
    rmSync(file("a.db-wal"));
    await mirror.pull();
    same("a.db");
    assert.equal(existsSync(copy("a.db-wal")), false);
  });

  it("writes nothing outside itself, whatever the site says", async () => {
    const shell = new Breaking();
    const { base, file, again } = pair(shell);
    writeFileSync(file("1.jsonl"), "{}\n");
    const names = [
      "./../../evil.jsonl",
      "/evil.jsonl",
      "../a/evil.jsonl",
      "./a/../../evil.jsonl",
      "../../evil.jsonl",
    ];
    const listed = names.map((name) => `'3 1.5 1.5 7 ${name}'`).join(" ");
    const seen = names.flatMap((name) => [`'3 1.5 7 ${name}'`, `'3 1.5 7 ./${name}'`]).join(" ");
    shell.prelude = `find() { case "$*" in /*) ;; *%C@*) printf '%s\\0' ${listed};; *) printf '%s\\0' ${seen};; esac; }; head() { echo '{}'; }`;
    assert.equal((await again().pull()).bytes, 0);
    assert.deepEqual(
      readdirSync(base, { recursive: true, encoding: "utf8" }).filter((name) => name.includes("evil")),
      [],
    );
  });

  it("counts times by this machine's clock", async () => {
    const shell = new Breaking();
    shell.prelude = `date() { echo $(($(command date +%s) + 3600)); }`;
    const { file, copy, again } = pair(shell);
    writeFileSync(file("1.jsonl"), "{}\n");
    const now = Date.now() / 1000;
    utimesSync(file("1.jsonl"), now + 3600, now + 3600);
    await again().pull();
    assert.ok(Math.abs(statSync(copy("1.jsonl")).mtimeMs / 1000 - now) < 3);
  });

  it("says once which files are too large", async () => {
    const { file, copy, again } = pair();
    writeFileSync(file("huge.py"), "");
    truncateSync(file("huge.py"), 2_000_000);
    const mirror = again();
    assert.deepEqual((await mirror.pull()).leftOut, [{ path: "huge.py", bytes: 2_000_000 }]);
    assert.deepEqual((await mirror.pull()).leftOut, []);
    assert.equal(existsSync(copy("huge.py")), false);
  });

  it("says that there is no folder, or that it may not be read", async () => {
    const { base, there } = pair();
    await assert.rejects(new Mirror(here(), join(there, "none"), join(base, "m")).pull(), {
      message: `There is no folder ${join(there, "none")}.`,
    });
  });

  it("says that the site cannot list a folder", async () => {
    const shell = new Breaking();
    shell.prelude = "find() { return 1; }";
    await assert.rejects(pair(shell).again().pull(), /^UserError: box has no GNU find/);
  });
});
