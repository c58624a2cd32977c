/** `gradus runs check`: what is whole is said to be, and damage is named with its place. */
import assert from "node:assert/strict";
import { cpSync, mkdirSync, readFileSync, rmSync, truncateSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { before, test } from "node:test";
import { checkRun } from "../../../server/cli/runs/checking/checkRun.ts";
import { checkTables } from "../../../server/store/check/checkTables.ts";
import { databasePath, runFolder } from "../../../server/store/files.ts";
import { loadReaders } from "../../../server/store/imported/readers.ts";
import { importRun } from "../../../server/store/imported/importRun.ts";
import { prefixBytes } from "../../../shared/log/codec.ts";
import { segmentPath } from "../../../shared/log/writer.ts";
import { end, start } from "../log/sample.ts";
import { close, newStore, plain, write } from "./support.ts";

before(loadReaders);

const run = "sums-20260102-030405-1f2e";

function filled() {
  const { folder, store } = newStore();
  write(folder, run, 0, [[[start(0, null, run)], -1], ...plain(0, 5), [[end(4)], 4]]);
  store.ingest.register(run);
  store.ingestAll(run);
  const home = runFolder(folder, run);
  return { folder, store, home, segment: segmentPath(home, 0, 0) };
}
const severities = (home: string) => checkRun(run, home).findings.map(({ severity }) => severity);

test("a whole run has no finding, and its tables have as many rows as its log has records", () => {
  const { folder, home } = filled();
  const found = checkRun(run, home);
  assert.deepEqual([found.findings, found.log.steps, found.live], [[], 7, false]);
  assert.deepEqual(checkTables(folder, new Map([[run, found.log]])), []);
  const counts = new Map([...found.log.attempts].map(([at, one]) => [at, { ...one, counts: { group: 99 } }]));
  const [other] = checkTables(folder, new Map([[run, { ...found.log, attempts: counts }]]));
  assert.match(other?.message ?? "", /the table grp has \d+ rows, and the log has 99 records/);
});

test("each flipped bit of a log is told: of a record, of a length, of the last length", () => {
  const { home, segment } = filled();
  const whole = readFileSync(segment);
  const starts: number[] = [];
  for (let at = 12; at < whole.length; at += prefixBytes + whole.readUInt32LE(at)) starts.push(at);
  for (const at of starts)
    for (const byte of [0, 1, 2, 3, 4, prefixBytes + 1]) {
      const bytes = Buffer.from(whole);
      bytes[at + byte]! ^= 1;
      writeFileSync(segment, bytes);
      const [found] = checkRun(run, home).findings;
      assert.ok(found, `${at}+${byte}`);
      assert.equal(found.file, segment);
      if (at < starts.at(-2)!) assert.equal(found.severity, "error", `${at}+${byte}: ${found.message}`);
    }
  writeFileSync(segment, whole);
  truncateSync(segment, whole.length - 3);
  const [torn] = checkRun(run, home).findings;
  assert.equal(torn?.severity, "warning");
  assert.match(torn?.message ?? "", /The last \d+ bytes are not read/);
});

test("a damaged database, best.json and rollouts that were changed are named", async () => {
  const { folder, store, home } = filled();
  mkdirSync(join(home, "checkpoints"));
  writeFileSync(join(home, "checkpoints", "best.json"), "{");
  assert.deepEqual(severities(home), ["error"]);
  rmSync(join(home, "checkpoints"), { recursive: true });
  const output = join(folder, "..", "out");
  cpSync("test/fixtures/imported/verl", output, { recursive: true });
  const imported = await importRun({
    store: folder,
    folder: output,
    name: undefined,
    copy: false,
    config: undefined,
    version: "0",
    progress: () => undefined,
  });
  const at = runFolder(folder, imported.run);
  assert.deepEqual(checkRun(imported.run, at).findings, []);
  const file = join(output, "rollouts", "2.jsonl");
  writeFileSync(file, readFileSync(file, "utf8").replace(/\d/, "x"));
  const [changed] = checkRun(imported.run, at).findings;
  assert.match(changed?.message ?? "", /their file has changed since it was imported/);
  close(store);
  writeFileSync(databasePath(folder), "no database at all".repeat(1000));
  for (const ending of ["-wal", "-shm"]) rmSync(`${databasePath(folder)}${ending}`, { force: true });
  assert.match(checkTables(folder, new Map())[0]?.message ?? "", /tables (cannot be read|are damaged)/);
});
