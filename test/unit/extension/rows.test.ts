/** Which runs a command of the runs view is about. */
import assert from "node:assert/strict";
import { test } from "node:test";
import { rowsOf, runsIn, steered } from "../../../extension/features/runs/rows.ts";
import { lastRunTitle } from "../../../extension/features/configs/lastRun.ts";
import { rowOf as rowFor, statusText } from "../../../extension/features/runs/treeModel.ts";
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

test("a run that another program trains is watched: its row offers neither Stop nor Pause", () => {
  const origin = { trainer: "verl", folder: "/w/out" } as const;
  const run = { ...summary("w"), origin: origin as never, status: "running" as const, step: 84, steps: 1 };
  const row = rowFor({ kind: "run", run }, Date.parse("2026-11-21T18:00:00.000Z"));
  assert.deepEqual([row.icon, row.context], ["eye", "run.watching.imported"]);
  assert.match(row.description, /^step 84 · watching/);
  const silent = { ...run, headline: {} };
  assert.equal(statusText([silent]), "$(eye) 1 watched · step 84", "it is no run of this machine's");
  assert.match(statusText([run, summary("a")]) ?? "", /^\$\(pulse\) 1 run .*1 watched$/);
  assert.equal(lastRunTitle(silent), "$(eye) Watching: Step 84");
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
