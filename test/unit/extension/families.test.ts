/** The runs view by config: families, forks, filters, marks. */
import assert from "node:assert/strict";
import { test } from "node:test";
import {
  families,
  familyText,
  forksOf,
  shownRuns,
  type Listing,
} from "../../../extension/features/runs/families.ts";
import { rowOf, runTooltip } from "../../../extension/features/runs/treeModel.ts";
import type { RunSummary } from "../../../shared/protocol/protocol.ts";

const now = Date.parse("2026-01-02T12:00:00Z");
const run = (id: string, more: Partial<RunSummary> = {}): RunSummary => ({
  id,
  name: "sums",
  file: "/w/sums.gradus.yaml",
  status: "finished",
  message: null,
  attempt: 0,
  step: 119,
  steps: 120,
  stage: "train",
  startedAt: "2026-01-02T10:00:00Z",
  endedAt: "2026-01-02T10:04:00Z",
  backend: "native",
  headline: {},
  first: null,
  last: null,
  ...more,
});
const listing = (more: Partial<Listing> = {}): Listing => ({
  ids: undefined,
  sparks: new Map(),
  archived: false,
  ...more,
});
const runs = [
  run("a"),
  run("b", { label: "seed 2", pinned: true }),
  run("c", { parent: { run: "a", step: 59 }, label: "lr 2e-5" }),
  run("d", { file: "/w/other.gradus.yaml", name: "other", status: "running" }),
  run("e", { archived: true }),
];
const ids = (found: readonly RunSummary[]): string => found.map(({ id }) => id).join("");

test("pinned runs come first, archived ones only where the filter asks for them, in the listing's order", () => {
  assert.equal(ids(shownRuns(runs, listing())), "bacd");
  assert.equal(ids(shownRuns(runs, listing({ archived: true }))), "bacde");
  // One that the daemon names and the window does not know yet comes with the next change.
  assert.equal(ids(shownRuns(runs, listing({ ids: ["d", "a", "b", "unknown"] }))), "bda");
});

test("families by config; a fork is under its parent, and a run like any other where that is not shown", () => {
  const shown = shownRuns(runs, listing());
  assert.deepEqual(
    families(shown).map((family) => [family.name, ids(family.runs), familyText(family)]),
    [
      ["sums", "ba", "3 runs"],
      ["other", "d", "1 run, 1 live"],
    ],
  );
  assert.equal(ids(forksOf(shown, "a")), "c");
  const origin = { trainer: "verl", version: null, folder: "/w/out", rollouts: 0, steps: 0 } as const;
  const followed = { ...origin, groups: "none", advantages: null, copied: false } as const;
  const [watching] = families([run("w", { status: "running", origin: followed })]);
  assert.equal(familyText(watching!), "1 run, 1 watched");
  const filtered = shownRuns(runs, listing({ ids: ["c"] }));
  assert.deepEqual(
    families(filtered).map((family) => ids(family.runs)),
    ["c"],
  );
});

test("a row says what differs, its course, its tags, and what can be done with it", () => {
  const fork = rowOf({ kind: "run", run: { ...runs[2]!, tags: ["paper"] }, spark: [0, 0.5, 1] }, now);
  assert.equal(fork.label, "from step 59 · lr 2e-5");
  assert.match(fork.description, /^▁▅█ .*1 h ago · #paper$/);
  assert.equal(fork.icon, "git-branch");
  assert.match(fork.spoken, /^sums, from step 59 · lr 2e-5, finished/);
  const pinned = rowOf({ kind: "run", run: runs[1]! }, now);
  assert.deepEqual([pinned.label, pinned.icon, pinned.context], ["seed 2", "pass", "run.finished.pinned"]);
  assert.equal(rowOf({ kind: "run", run: runs[4]! }, now).context, "run.finished.archived");
  assert.equal(rowOf({ kind: "run", run: runs[0]! }, now).label, "sums");
  assert.match(
    runTooltip({ ...runs[2]!, note: "the *good* one" }, now),
    /forked from a after step 59[^]*the \\\*good\\\* one/,
  );
});
