import assert from "node:assert/strict";
import { readFileSync, renameSync, rmSync, truncateSync, writeFileSync } from "node:fs";
import { test } from "node:test";
import { openDatabase } from "../../../server/store/drivers/driver.ts";
import { databasePath, runFolder } from "../../../server/store/files.ts";
import { migrate } from "../../../server/store/schema.ts";
import { UserError } from "../../../shared/lib/errors.ts";
import { segmentPath } from "../../../shared/log/writer.ts";
import type { RolloutSort } from "../../../shared/protocol/protocol.ts";
import { end, rollout, start } from "../log/sample.ts";
import { close, newStore, plain, values, write } from "./support.ts";

test("rollouts become rows when they are asked for, a step alone where one step is asked for", () => {
  const { folder, store } = newStore();
  write(folder, "a", 0, [[[start()], -1], ...plain(0, 5)]);
  store.ingestAll("a");
  const ask = (step?: number) =>
    store.queries.rollouts({ run: "a", tokens: false, limit: 100, ...(step === undefined ? {} : { step }) });
  const unread = () => {
    let count = 0;
    while (store.ingest.rollouts.next("a")) count += 1;
    return count;
  };
  assert.equal(ask(3).total, 2);
  assert.equal(unread(), 4);
  assert.equal(ask().total, 10);
  assert.deepEqual(
    ask(3).rollouts.map(({ index }) => index),
    [0, 1],
  );
});

test("rollouts whose log is away come back with it", () => {
  const { folder, store } = newStore();
  write(folder, "a", 0, [[[start()], -1], ...plain(0, 1)]);
  store.ingestAll("a");
  const segment = segmentPath(runFolder(folder, "a"), 0, 0);
  renameSync(segment, `${segment}.away`);
  const ask = () => store.queries.rollouts({ run: "a", tokens: false, limit: 10 });
  assert.throws(ask, /gone or has been cut short/);
  renameSync(`${segment}.away`, segment);
  assert.equal(ask().total, 2);
});

test("a rollout whose place in the log holds something else is an error that names the segment", () => {
  const { folder, store } = newStore();
  write(folder, "a", 0, [[[start()], -1], ...plain(0, 1)]);
  store.ingestAll("a");
  const ask = () => store.queries.rollouts({ run: "a", tokens: false, limit: 10 });
  assert.equal(ask().total, 2);
  const segment = segmentPath(runFolder(folder, "a"), 0, 0);
  const bytes = readFileSync(segment);
  const at = bytes.indexOf("Make 7 from 3 and 4");
  bytes[at] = 0x6d;
  writeFileSync(segment, bytes);
  assert.throws(ask, (error: unknown) => {
    assert.ok(error instanceof UserError);
    assert.match(error.message, /cannot be read: its checksum is wrong/);
    assert.equal(error.detail.file, segment);
    return true;
  });
  truncateSync(segment, at);
  assert.throws(ask, /the file ends within it/);
});

test("a store from before rollouts stayed in the log is read again from the logs", () => {
  const { folder, store, open } = newStore();
  close(store);
  rmSync(databasePath(folder));
  write(folder, "a", 0, [[[start()], -1], ...plain(0, 2), [[end(1)], 1]]);
  const { database } = openDatabase(databasePath(folder), { anyThread: true });
  migrate(database, databasePath(folder), 3);
  database.exec(
    `INSERT INTO run(id, name, file, status, attempt, step, steps, created_at, authored, config, headline, start_key) VALUES ('a', 'a', 'f', 'finished', 0, 1, 2, '', '', '{}', '{}', 'key');
     INSERT INTO attempt VALUES ('a', 0, NULL, NULL, NULL, 1, 'finished', NULL, 0, 1000000, 0);
     INSERT INTO rollout(run, attempt, step, ordinal, name, idx, body) VALUES ('a', 0, 0, 0, 'old', 0, '{}');
     INSERT INTO series VALUES (1, 'a', 'reward/total');
     INSERT INTO point VALUES (1, 0, 0, 5);`,
  );
  database.close();
  const again = open();
  again.ingestAll("a");
  const { rollouts, total } = again.queries.rollouts({ run: "a", tokens: false, limit: 100 });
  assert.equal(total, 4);
  assert.deepEqual(
    rollouts.map(({ group }) => group),
    ["task-1", "task-1", "task-1", "task-1"],
  );
  assert.deepEqual(values(again, "a")?.values, [0, 1 / 7]);
  assert.equal(again.queries.byStartKey("key"), "a");
});

test("rollouts are sorted over all steps, those without the number last, and read page by page", () => {
  const { folder, store } = newStore();
  const [first, second] = [rollout(0, 0), rollout(1, 1)];
  assert.ok(first.kind === "rollout" && second.kind === "rollout");
  const scored = (reward: number | null, response: string) => ({
    ...first,
    row: { ...first.row, reward, response },
  });
  const later = { ...second, row: { ...second.row, reward: 0.25, response: "longest" } };
  write(folder, "a", 0, [
    [[start()], -1],
    [[scored(null, "a"), scored(1, "four"), scored(0.25, "ab")], 0],
    [[later], 1],
  ]);
  store.ingestAll("a");
  const sorted = (sort: RolloutSort) => {
    const found: string[] = [];
    for (let after: string | null | undefined; after !== null;) {
      const page = store.queries.rollouts({
        run: "a",
        tokens: false,
        limit: 2,
        sort,
        ...(after !== undefined && { after }),
      });
      assert.equal(page.total, 4);
      found.push(...page.rollouts.map(({ response = "" }) => response));
      after = page.next;
    }
    return found;
  };
  assert.deepEqual(sorted("-reward"), ["four", "ab", "longest", "a"]);
  assert.deepEqual(sorted("reward"), ["ab", "longest", "four", "a"]);
  assert.deepEqual(sorted("-length"), ["longest", "four", "ab", "a"]);
  assert.deepEqual(sorted("-step"), ["longest", "a", "four", "ab"]);
  const ask = (after: string) =>
    store.queries.rollouts({ run: "a", tokens: false, limit: 2, sort: "step", after });
  assert.throws(() => ask("0:1:2"), /is not a cursor to continue from/);
});
