/** What `gradus runs gc` finds: nothing of a pinned or live run, never the newest checkpoint or the best. */
import assert from "node:assert/strict";
import { linkSync, mkdirSync, mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { test } from "node:test";
import { garbageOf } from "../../../server/daemon/experiments/garbage.ts";
import type { RunSummary } from "../../../shared/protocol/protocol.ts";
import { writeBest } from "../../../shared/run/bestCheckpoint.ts";

const now = Date.parse("2026-03-01T00:00:00Z");
const run = (id: string, more: Partial<RunSummary> = {}): RunSummary => ({
  id,
  name: "sums",
  file: "/w/sums.gradus.yaml",
  status: "finished",
  message: null,
  attempt: 0,
  step: 9,
  steps: 10,
  stage: "train",
  startedAt: "2026-01-01T00:00:00Z",
  endedAt: "2026-01-01T01:00:00Z",
  backend: "native",
  headline: {},
  first: null,
  last: null,
  ...more,
});

test("superseded checkpoints, old archived runs and unfinished checkpoints, with what each frees", () => {
  const base = mkdtempSync(join(tmpdir(), "gradus-gc-"));
  const store = join(base, ".gradus");
  const folderOf = (id: string): string => join(store, "runs", id);
  const checkpoint = (id: string, name: string, bytes = 100): string => {
    const folder = join(folderOf(id), "checkpoints", name);
    mkdirSync(folder, { recursive: true });
    writeFileSync(join(folder, "state.bin"), Buffer.alloc(bytes));
    return join(folder, "state.bin");
  };
  try {
    for (const id of ["plain", "pinned", "archived", "recent", "training"])
      for (const step of ["1", "3", "5"]) checkpoint(id, step);
    checkpoint("plain", "7.tmp-42", 10);
    writeBest(folderOf("plain"), { step: 1, metric: "eval/pass@1", value: 0.5 });
    // A fork begins with links to a checkpoint: deleting it frees nothing.
    const shared = checkpoint("parent", "1");
    checkpoint("parent", "3");
    mkdirSync(join(folderOf("fork")), { recursive: true });
    linkSync(shared, join(folderOf("fork"), "state.bin"));
    const runs = [
      run("plain"),
      run("pinned", { pinned: true }),
      run("archived", { archived: true }),
      run("recent", { archived: true, endedAt: "2026-02-27T00:00:00Z" }),
      run("parent"),
      run("gone"),
      run("training", { status: "running" }),
    ];
    const found = garbageOf(store, runs, { olderThan: 30 * 86_400, keep: 1 }, now);
    assert.deepEqual(
      found.map(({ kind, run: id, step, bytes }) => [id, kind, step, bytes]),
      [
        ["plain", "checkpoint", 3, 100],
        ["plain", "draft", null, 10],
        ["archived", "run", null, 300],
        ["recent", "checkpoint", 1, 100],
        ["recent", "checkpoint", 3, 100],
        ["parent", "checkpoint", 1, 0],
      ],
    );
    const kept = garbageOf(store, [run("recent")], { olderThan: 0, keep: 2 }, now);
    assert.deepEqual(
      kept.map(({ step }) => step),
      [1],
    );
  } finally {
    rmSync(base, { recursive: true, force: true });
  }
});
