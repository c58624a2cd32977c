/** Folders of other programs with what is no file of theirs: passed over and named, never waited for, never followed out. */
import assert from "node:assert/strict";
import { spawnSync } from "node:child_process";
import { appendFileSync, cpSync, readFileSync, readdirSync, symlinkSync, writeFileSync } from "node:fs";
import { dirname, join } from "node:path";
import { before, test } from "node:test";
import { openDatabase } from "../../../server/store/drivers/driver.ts";
import { importFeed } from "../../../server/store/imported/feeds/importFeed.ts";
import { findSource } from "../../../server/store/imported/findSource.ts";
import type { ImportRequest } from "../../../server/store/imported/importRequest.ts";
import { importRun } from "../../../server/store/imported/importRun.ts";
import { summaryNotes } from "../../../server/store/imported/importSummary.ts";
import { loadReaders } from "../../../server/store/imported/readers.ts";
import { runFolder } from "../../../server/store/files.ts";
import { UserError } from "../../../shared/lib/errors.ts";
import { newStore } from "./support.ts";
import { needs } from "../../support/system.ts";

before(loadReaders);

const request = (store: string, folder: string, copy = false): ImportRequest => ({
  store,
  folder,
  name: undefined,
  copy,
  config: undefined,
  version: "0.0.0",
  progress: () => undefined,
});

/** Entries with names of the trainer's files that are none of its files. */
function plant(output: string, outside: string, name: (at: number) => string): void {
  spawnSync("mkfifo", [join(output, name(1))]);
  symlinkSync("/dev/zero", join(output, name(2)));
  symlinkSync(outside, join(output, name(3)));
  symlinkSync("nowhere", join(output, name(4)));
  symlinkSync(name(5), join(output, name(5)));
}

for (const copy of [false, true])
  test(
    `a dump with pipes, devices and links is imported without them${copy ? ", also as a copy" : ""}`,
    needs.links,
    async () => {
      const { folder, store } = newStore();
      const output = join(folder, "..", "out");
      cpSync("test/fixtures/imported/verl", output, { recursive: true });
      const rollouts = join(output, readdirSync(output).find((name) => /rollout/.test(name)) ?? ".");
      const outside = join(folder, "..", "secret.jsonl");
      writeFileSync(outside, readFileSync(join(rollouts, "1.jsonl"), "utf8"));
      plant(rollouts, outside, (at) => `${100 + at}.jsonl`);
      symlinkSync("2.jsonl", join(rollouts, "9.jsonl"));
      const summary = await importRun(request(folder, output, copy));
      store.ingestAll(summary.run);
      assert.deepEqual(store.queries.rolloutSteps(summary.run), [1, 2, 3, 4, 5, 9]);
      const notes = summaryNotes(summary, "").join("\n");
      for (const [at, why] of [
        [1, "it is no regular file"],
        [2, "it links out of the folder"],
        [3, "it links out of the folder"],
        [4, "its link leads nowhere"],
        [5, "its link leads nowhere"],
      ] as const)
        assert.ok(notes.includes(`${100 + at}.jsonl was passed over: ${why}`), notes);
    },
  );

test(
  "a tracker's folder is read without what is no file of it, and what was passed over is named",
  needs.links,
  async () => {
    const { folder } = newStore();
    const output = join(folder, "..", "out");
    cpSync("test/fixtures/trackers/tensorboard", output, { recursive: true });
    const place = dirname(
      readdirSync(output, { recursive: true, encoding: "utf8" })
        .map((name) => join(output, name))
        .find((name) => name.includes("tfevents"))!,
    );
    plant(place, "/etc/passwd", (at) => `events.out.tfevents.170000000${at}.box.1.0`);
    const source = findSource(place);
    assert.equal(source.kind, "feed");
    if (source.kind !== "feed") return;
    const summary = await importFeed(request(folder, place), source.feed);
    assert.ok(summary.metrics > 0);
    assert.equal(summary.notes?.filter((note) => note.includes("was passed over")).length, 5);
  },
);

test("a damaged project of trackio is named, with what can be done", () => {
  const { folder } = newStore();
  const file = join(folder, "..", "sums.db");
  for (const ending of ["", "-wal"])
    cpSync(`test/fixtures/trackers/trackio/sums.db${ending}`, `${file}${ending}`);
  const { database } = openDatabase(file, { anyThread: true });
  database.pragma("wal_checkpoint(TRUNCATE)");
  database.close();
  const bytes = readFileSync(file);
  // Pages with the schema stay as they are.
  for (let at = 4096; at < bytes.length; at += 4096)
    if (!bytes.subarray(at, at + 4096).includes("CREATE ")) bytes.fill(0xff, at, at + 4096);
  writeFileSync(file, bytes);
  const source = findSource(file);
  assert.equal(source.kind, "feed");
  if (source.kind !== "feed") return;
  assert.throws(
    () => source.feed.open({ config: undefined }),
    (error) =>
      error instanceof UserError &&
      /This project of trackio is damaged/.test(error.message) &&
      /sqlite3/.test(error.detail.action ?? ""),
  );
});

test("a line that is nested a million levels deep is passed over, and the others stay readable", async () => {
  const { folder, store } = newStore();
  const output = join(folder, "..", "out");
  cpSync("test/fixtures/imported/verl", output, { recursive: true });
  const rollouts = join(output, readdirSync(output).find((name) => /rollout/.test(name)) ?? ".");
  const deep = `${'{"a":'.repeat(1_000_000)}1${"}".repeat(1_000_000)}`;
  const [first = "", ...rest] = readFileSync(join(rollouts, "2.jsonl"), "utf8").trimEnd().split("\n");
  const planted = JSON.stringify({ ...JSON.parse(first), extra: 0 }).replace(/0\}$/, `${deep}}`);
  writeFileSync(join(rollouts, "2.jsonl"), `${[planted, ...rest].join("\n")}\n`);
  appendFileSync(join(rollouts, "3.jsonl"), `${deep}\n`);
  const { run } = await importRun(request(folder, output));
  store.ingestAll(run);
  const seen = store.queries.rollouts({ run, tokens: true, limit: 1000 });
  assert.equal(seen.total, 79);
  const events = store.queries
    .events({ run, limit: 100 })
    .events.filter(({ name }) => name === "placed/line");
  assert.equal(events.length, 2);
  assert.match(events[0]!.message, /nested more than 500 levels deep/);
});

test("a file that nothing of Gradus reads is said to be that", () => {
  const { folder } = newStore();
  const file = join(folder, "..", "other.db");
  writeFileSync(file, "no database");
  assert.throws(
    () => findSource(file),
    (error) => error instanceof UserError && /holds nothing that Gradus imports/.test(error.message),
  );
  assert.equal(runFolder(folder, "fine").endsWith("fine"), true);
  for (const name of ["__proto__", "constructor", "toString"])
    assert.throws(() => runFolder(folder, name), /There is no run/);
});
