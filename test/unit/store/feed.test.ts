import assert from "node:assert/strict";
import { test } from "node:test";
import { start, type Written } from "../log/sample.ts";
import { newStore, plain, write } from "./support.ts";

test("the feed gives every change once from any cursor, and says when it cannot", () => {
  const { folder, store } = newStore();
  const begin = store.queries.changes({}).cursor;
  write(folder, "a", 0, [[[start()], -1], ...plain(0, 5)]);
  write(folder, "b", 0, [[[{ ...start(), run: "b" } as Written], -1], ...plain(0, 2)]);
  store.ingestAll("a");
  store.ingestAll("b");
  const { changes, cursor, restart } = store.queries.changes({ since: begin });
  assert.equal(restart, false);
  assert.deepEqual(
    changes.filter(({ run }) => run === "a").map(({ kind, step }) => [kind, step]),
    [
      ["created", -1],
      ["status", -1],
      ["step", 0],
      ["step", 1],
      ["step", 2],
      ["step", 3],
      ["step", 4],
    ],
  );
  assert.deepEqual(changes.find(({ kind, step }) => kind === "step" && step === 3)?.metrics, {
    "reward/total": 3 / 7,
  });
  assert.deepEqual(
    changes.map((change) => change.cursor),
    changes.map((_, index) => begin + 1 + index),
  );
  assert.equal(changes.filter(({ summary }) => summary !== null).length, 2);
  const rest = store.queries.changes({ since: begin + 4 });
  assert.equal(rest.changes[0]?.cursor, begin + 5);
  assert.deepEqual(store.queries.changes({ since: cursor }), { cursor, restart: false, changes: [] });
  assert.equal(store.queries.changes({ since: cursor + 1 }).restart, true);
  assert.equal(store.queries.changes({ since: begin - 10 }).restart, true);
  assert.deepEqual(
    [...new Set(store.queries.changes({ since: begin, runs: ["b"] }).changes.map(({ run }) => run))],
    ["b"],
  );
});
