/** Which runs a command of the runs view is about. */
import assert from "node:assert/strict";
import { test } from "node:test";
import { rowsOf, runsIn, steered } from "../../../extension/features/runs/rows.ts";
import { summaryAt } from "../../webview/fakeRun.ts";

const summary = (id: string) => ({ ...summaryAt(0), id });
const rowOf = (id: string) => ({ kind: "run", run: summary(id) });
const familyOf = (...ids: string[]) => ({
  kind: "family",
  run: "/p/a.gradus.yaml",
  family: { key: "/p/a.gradus.yaml", name: "a", runs: ids.map(summary), all: ids.map(summary) },
});
const about = (word: unknown, more?: unknown) => runsIn(rowsOf(word, more));

test("all that are selected, where the row that was clicked is among them", () => {
  const [a, b, c] = [rowOf("a"), rowOf("b"), rowOf("c")];
  assert.deepEqual(about(b, [a, b, c]), ["a", "b", "c"]);
  assert.deepEqual(about({ ...b }, [a, b]), ["a", "b"], "a row that was made again");
  assert.deepEqual(about(undefined, [a, b]), ["a", "b"]);
  assert.deepEqual(about("a", [a, b]), ["a", "b"]);
});

test("the row that was clicked alone, where others are selected elsewhere", () => {
  const [a, b] = [rowOf("a"), rowOf("b")];
  const family = familyOf("c", "d");
  assert.deepEqual(about(rowOf("c"), [a, b]), ["c"]);
  assert.deepEqual(about(family, [a, b]), ["c", "d"]);
  assert.deepEqual(about(a, [family]), ["a"]);
  assert.deepEqual(about(a), ["a"]);
});

test("a family stands for its runs, each once", () => {
  const family = familyOf("a", "b");
  assert.deepEqual(about(family, [family, rowOf("b"), rowOf("c")]), ["a", "b", "c"]);
  assert.deepEqual(about(undefined), []);
});

test("what another program trains can be left alone, and is neither paused nor continued", () => {
  const origin = { trainer: "verl", version: null, folder: "/w/out", rollouts: 0, steps: 0 } as const;
  const followed = { ...origin, groups: "none", advantages: null, copied: false } as const;
  const watched = { ...summary("w"), name: "theirs", origin: followed };
  const own = summary("a");
  const ids = (runs: readonly { readonly id: string }[]) => runs.map(({ id }) => id);
  assert.deepEqual(ids(steered([watched, own], "stop")), ["w", "a"]);
  assert.deepEqual(ids(steered([watched, own], "pause")), ["a"]);
  assert.deepEqual(steered([], "pause"), []);
  assert.throws(() => steered([watched], "pause"), /Another program trains theirs/);
  assert.throws(() => steered([{ ...own, status: "failed" }], "stop"), /is not running: it is failed/);
});
