import assert from "node:assert/strict";
import { test } from "node:test";
import { Emitter } from "../../../extension/features/connection/emitter.ts";
import { RunFeed, type FeedSession } from "../../../extension/features/runs/feed.ts";
import { RunsModel } from "../../../extension/features/runs/model.ts";
import {
  childrenOf,
  childrenOfRun,
  rowOf,
  runDescription,
  runTooltip,
  statusText,
} from "../../../extension/features/runs/treeModel.ts";
import type { Change, RunDetail, RunSummary } from "../../../shared/protocol.ts";

const now = Date.parse("2026-11-21T20:00:00Z");
const summary = (id: string, changes: Partial<RunSummary> = {}): RunSummary => ({
  id,
  name: `name of ${id}`,
  file: "/w/countdown.gradus.yaml",
  status: "running",
  message: null,
  attempt: 0,
  step: 84,
  steps: 420,
  stage: "full",
  startedAt: "2026-11-21T19:30:00.000Z",
  endedAt: null,
  backend: "native CPU",
  headline: { "reward/total": 0.412 },
  first: null,
  last: null,
  ...changes,
});
const change = (cursor: number, run: RunSummary, kind: Change["kind"] = "step"): Change => ({
  cursor,
  run: run.id,
  kind,
  step: run.step,
  summary: run,
});

/** A daemon that has kept its changes since `kept`. */
class FakeDaemon {
  readonly changes = new Emitter<{ cursor: number; changes: readonly Change[] }>();
  history: Change[] = [];
  runs: RunSummary[] = [];
  asked: string[] = [];
  kept = 0;
  constructor(readonly instance: string) {}

  session(): FeedSession {
    const answer = (method: string, { since }: { since?: number }): unknown => {
      this.asked.push(method);
      if (method === "gradus/runs/list") return { runs: this.runs };
      const restart = since !== undefined && since < this.kept;
      return {
        cursor: this.history.length,
        restart,
        changes: restart || since === undefined ? [] : this.history.slice(since),
      };
    };
    return {
      link: { hello: { instance: this.instance } },
      changes: this.changes,
      ask: (request, parameters) =>
        Promise.resolve(answer(request.method, parameters as { since?: number }) as never),
    };
  }
  happen(run: RunSummary, announce = true): void {
    const one = change(this.history.length + 1, run);
    this.history.push(one);
    if (announce) this.changes.fire({ cursor: one.cursor, changes: [one] });
  }
}

function follow(): { feed: RunFeed; runs: RunsModel; steps: number[]; restarts: () => number } {
  const runs = new RunsModel();
  const feed = new RunFeed(runs);
  const steps: number[] = [];
  let restarts = 0;
  feed.changes.on((changes) => steps.push(...changes.map(({ step }) => step)));
  feed.restarted.on(() => void restarts++);
  return { feed, runs, steps, restarts: () => restarts };
}

test("a reconnection to the same daemon brings exactly what was missed", async () => {
  const daemon = new FakeDaemon("one");
  const { feed, steps, restarts } = follow();
  await feed.follow(daemon.session());
  daemon.happen(summary("a", { step: 1 }));
  daemon.happen(summary("a", { step: 2 }), false);
  daemon.happen(summary("a", { step: 3 }), false);
  await feed.follow(daemon.session());
  daemon.happen(summary("a", { step: 4 }));
  assert.deepEqual(steps, [1, 2, 3, 4]);
  assert.equal(restarts(), 1);
});

test("a change that arrives before the answer is neither lost nor taken twice", async () => {
  const daemon = new FakeDaemon("one");
  daemon.runs = [summary("a", { step: 0 })];
  const { feed, steps } = follow();
  await feed.follow(daemon.session());
  daemon.happen(summary("a", { step: 1 }), false);
  const again = feed.follow(daemon.session());
  daemon.happen(summary("a", { step: 2 }));
  await again;
  assert.deepEqual(steps, [1, 2]);
});

test("another daemon, or one that has forgotten, means asking for everything again", async () => {
  const { feed, restarts } = follow();
  const first = new FakeDaemon("one");
  await feed.follow(first.session());
  const second = new FakeDaemon("two");
  await feed.follow(second.session());
  assert.equal(restarts(), 2);
  second.happen(summary("a"));
  second.kept = 100;
  second.asked = [];
  await feed.follow(second.session());
  assert.equal(restarts(), 3);
  assert.ok(second.asked.includes("gradus/runs/list"));
});

test("an end is told once, even when it happened while disconnected", () => {
  const model = new RunsModel();
  const ended: string[] = [];
  model.ended.on(({ id, status }) => ended.push(`${id} ${status}`));
  model.replace([summary("a"), summary("old", { status: "finished" })]);
  model.apply([change(1, summary("a", { status: "stopping" }), "status")]);
  model.replace([summary("a", { status: "stopped" }), summary("old", { status: "finished" })]);
  model.apply([change(2, summary("a", { status: "stopped" }), "status")]);
  assert.deepEqual(ended, ["a stopped"]);
});

test("live runs come first, then the newest; a deleted run is gone", () => {
  const model = new RunsModel();
  model.replace([
    summary("old", { status: "finished", startedAt: "2026-11-20T00:00:00.000Z" }),
    summary("new", { status: "failed", startedAt: "2026-11-21T00:00:00.000Z" }),
    summary("live", { startedAt: "2026-11-19T00:00:00.000Z" }),
  ]);
  assert.deepEqual(
    model.all.map(({ id }) => id),
    ["live", "new", "old"],
  );
  model.apply([{ cursor: 1, run: "new", kind: "deleted", step: 0, summary: null }]);
  assert.deepEqual(
    model.all.map(({ id }) => id),
    ["live", "old"],
  );
  assert.equal(model.lastOf("/w/countdown.gradus.yaml")?.id, "old");
});

test("a row says in words and icon how a run stands", () => {
  const row = rowOf({ kind: "run", run: summary("a") }, now);
  assert.deepEqual(
    [row.icon, row.context, row.description],
    ["play-circle", "run.running", "step 85 of 420 · r̄ 0.412"],
  );
  assert.match(row.spoken, /running/);
  const done = summary("b", {
    status: "finished",
    endedAt: "2026-11-21T17:00:00.000Z",
    first: { "eval/pass@1": 0.204 },
    last: { "eval/pass@1": 0.388 },
  });
  assert.equal(runDescription(done, now), "pass@1 20.4 % → 38.8 % · 3 h ago");
  assert.equal(
    runDescription(summary("c", { status: "failed", endedAt: "2026-11-21T19:59:50.000Z" }), now),
    "failed · just now",
  );
});

test("the tooltip does not let a run's name become markup", () => {
  const text = runTooltip(summary("a", { name: "[x](command:evil)", message: "a `b` <c>" }), now);
  assert.ok(!text.includes("[x]("));
  assert.ok(text.includes("\\<c\\>"));
});

test("the status bar counts live runs and says the reward", () => {
  assert.equal(statusText([]), undefined);
  assert.equal(statusText([summary("a")]), "$(pulse) 1 run · r̄ 0.412");
  assert.equal(statusText([summary("a", { headline: {} })]), "$(pulse) 1 run · step 85/420");
  assert.equal(
    statusText([summary("a"), summary("b", { headline: { "reward/total": 0.612 } })]),
    "$(pulse) 2 runs · r̄ 0.512",
  );
});

test("under a run: stages, steps newest first and in groups once there are many, evaluations, checkpoints", () => {
  const detail: RunDetail = {
    ...summary("a", { step: 419 }),
    folder: "/w/.gradus/runs/a",
    authored: "",
    config: {},
    git: null,
    checkpoints: [
      { step: 50, path: "/c/50", bytes: 1_500_000 },
      { step: 100, path: "/c/100", bytes: 1_500_000 },
    ],
    attempts: [],
    stages: [
      { step: 0, name: "warm-up", kind: "sft" },
      { step: 300, name: "full", kind: "rl" },
    ],
    backendReason: null,
  };
  const parts = childrenOfRun(detail, [
    { step: 300, role: "first", metrics: { "eval/pass@1": 0.2, "eval/greedy": 0.31 } },
  ]);
  assert.deepEqual(
    parts.map((part) => rowOf(part, now).label),
    ["warm-up", "full", "Evaluations", "Checkpoints"],
  );
  assert.deepEqual(
    parts.map((part) => rowOf(part, now).expands),
    [false, true, true, true],
  );
  const groups = childrenOf(parts[1]!);
  assert.deepEqual(
    groups.map((part) => rowOf(part, now).label),
    ["Steps 400 to 419", "Steps 350 to 399", "Steps 300 to 349"],
  );
  assert.equal(rowOf(childrenOf(groups[0]!)[0]!, now).label, "Step 419");
  assert.equal(rowOf(childrenOf(parts[2]!)[0]!, now).description, "pass@1 20.0 % · greedy 31.0 %");
  assert.equal(rowOf(childrenOf(parts[3]!)[0]!, now).description, "1.5 MB");
});
