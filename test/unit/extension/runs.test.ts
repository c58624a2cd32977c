import assert from "node:assert/strict";
import { test } from "node:test";
import { Emitter } from "../../../extension/features/connection/emitter.ts";
import { RunFeed, type FeedSession } from "../../../extension/features/runs/feed.ts";
import { RunsModel } from "../../../extension/features/runs/model.ts";
import {
  childrenOf,
  childrenOfRun,
  endText,
  readingText,
  rowOf,
  runDescription,
  runTooltip,
  statusText,
} from "../../../extension/features/runs/treeModel.ts";
import { lastRunTitle } from "../../../extension/features/configs/lastRun.ts";
import type { Change, RunDetail, RunSummary } from "../../../shared/protocol/protocol.ts";
import type { VerdictState } from "../../../shared/run/verdict.ts";

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
    const answer = (method: string, { since, limit }: { since?: number; limit?: number }): unknown => {
      this.asked.push(method);
      if (method === "gradus/runs/list") return { runs: this.runs.slice(0, limit) };
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

test("of many runs the newest 200 are listed, and 200 more each time that they are asked for", async () => {
  const daemon = new FakeDaemon("one");
  daemon.runs = Array.from({ length: 450 }, (_, i) => summary(`r${i}`, { status: "finished" }));
  const { feed, runs } = follow();
  const listed = (): unknown => [runs.all.length, feed.complete];
  await feed.follow(daemon.session());
  assert.deepEqual(listed(), [200, false]);
  // A filter finds what is older, and keeps it only until the list is read again.
  runs.learn([summary("r430", { status: "finished" }), summary("r3", { step: 1 })]);
  assert.deepEqual([runs.all.length, runs.find("r3")?.step], [201, 84]);
  await feed.more(daemon.session());
  assert.deepEqual(listed(), [400, false]);
  await feed.more(daemon.session());
  assert.deepEqual(listed(), [450, true]);
  await feed.list(daemon.session());
  assert.deepEqual(listed(), [450, true], "what was asked for stays");
  const exact = new FakeDaemon("two");
  exact.runs = daemon.runs.slice(0, 200);
  const other = follow();
  await other.feed.follow(exact.session());
  assert.equal(other.feed.complete, true, "200 are all there are");
});

test("an end is reported once, even when it happened while disconnected", () => {
  const model = new RunsModel();
  const ended: string[] = [];
  model.ended.on(({ id, status }) => ended.push(`${id} ${status}`));
  model.replace([summary("a"), summary("old", { status: "finished" })]);
  model.apply([change(1, summary("a", { status: "stopping" }), "status")]);
  model.replace([summary("a", { status: "stopped" }), summary("old", { status: "finished" })]);
  model.apply([change(2, summary("a", { status: "stopped" }), "status")]);
  assert.deepEqual(ended, ["a stopped"]);
});

test("an alarm on a live run is reported once, and not where it stood when the window first looked", () => {
  const model = new RunsModel();
  const alarmed: string[] = [];
  model.alarmed.on(({ id, verdict }) => alarmed.push(`${id} ${verdict?.state}`));
  const wrong = (id: string, state: VerdictState, more: Partial<RunSummary> = {}): RunSummary =>
    summary(id, { verdict: { state, label: state, since: more.step ?? 40, headline: "It is." }, ...more });
  model.replace([summary("a"), wrong("old", "starved")]);
  model.apply([change(1, wrong("old", "starved")), change(2, wrong("a", "learning"))]);
  assert.deepEqual(alarmed, []);
  for (const step of [85, 86]) model.apply([change(step, wrong("a", "starved", { step }))]);
  assert.deepEqual(alarmed, ["a starved"], "its beginning may move");
  model.apply([change(87, wrong("a", "learning"))]);
  model.apply([change(88, wrong("a", "collapsed"))]);
  assert.deepEqual(alarmed, ["a starved", "a collapsed"]);
  const verdict = { state: "failing", label: "failing", since: 9, headline: "It is." } as const;
  const dismissed = { reason: "A test.", at: "2026-11-21T19:40:00.000Z" };
  model.apply([change(89, summary("a", { verdict: { ...verdict, dismissed } }))]);
  model.apply([change(90, summary("a", { verdict, status: "failed" }), "status")]);
  assert.equal(alarmed.length, 2, "dismissed, or ended: that has a notification of its own");
  // While the connection was down.
  model.replace([wrong("a", "failing"), wrong("old", "unstable")]);
  assert.deepEqual(alarmed.slice(2), ["a failing", "old unstable"]);
});

test("an end of long ago is not announced when its log is read, and a run that is read is not live", () => {
  let now = Date.parse("2026-11-21T20:00:00Z");
  const model = new RunsModel({ milliseconds: 0, now: () => now });
  const ended: string[] = [];
  model.ended.on(({ id }) => ended.push(id));
  const yesterday = { status: "finished", endedAt: "2026-11-20T12:00:00.000Z" } as const;
  model.replace([
    summary("unread", { status: "reading", step: -1 }),
    summary("plain", { status: "starting", step: -1 }),
    summary("live"),
  ]);
  assert.deepEqual(model.live.map(({ id }) => id).sort(), ["live", "plain"]);
  assert.deepEqual(model.reading, { left: 1, all: 3 });
  now += 5_000;
  model.apply([
    change(1, summary("unread", yesterday), "status"),
    change(2, summary("plain", yesterday), "status"),
    change(3, summary("live", { status: "finished", endedAt: "2026-11-21T20:00:04.000Z" }), "status"),
  ]);
  assert.deepEqual(ended, ["live"]);
  assert.deepEqual(model.reading, { left: 0, all: 3 });
  // One that ran before this window's eyes and whose end is then read is reported.
  model.apply([change(4, summary("plain"), "status")]);
  model.apply([change(5, summary("plain", { status: "reading" }), "status")]);
  assert.deepEqual(ended, ["live"]);
  model.apply([
    change(6, summary("plain", { status: "failed", endedAt: new Date(now).toISOString() }), "status"),
  ]);
  assert.deepEqual(ended, ["live", "plain"]);
});

test("steps move once in a beat for every view; a status at once", () => {
  const timers: (() => void)[] = [];
  const model = new RunsModel({ milliseconds: 2_000, after: (_, act) => void timers.push(act) });
  const told: (number | undefined)[] = [];
  model.changed.on(() => told.push(model.find("a")?.step));
  model.replace([summary("a", { step: 1 })]);
  for (let step = 2; step < 8; step++) model.apply([change(step, summary("a", { step }))]);
  assert.deepEqual(told, [1, 2], "the first step is told at once, the others wait");
  timers.shift()?.();
  assert.deepEqual(told, [1, 2, 7]);
  model.apply([change(9, summary("a", { step: 8 }))]);
  model.apply([change(10, summary("a", { step: 9, status: "finished" }), "status")]);
  assert.deepEqual(told, [1, 2, 7, 9]);
  timers.shift()?.();
  assert.equal(model.find("a")?.step, 9, "what waited was overtaken");
  timers.shift()?.();
  assert.equal(timers.length, 0, "nothing waits when nothing happens");
});

test("what a person marks or writes is shown at once, also within a beat of steps", () => {
  const model = new RunsModel({ milliseconds: 2_000, after: () => undefined });
  for (const marks of [{}, { pinned: true }, { archived: true }, { tags: ["good"] }, { note: "why" }, {}]) {
    model.apply([change(3, summary("a", marks), "status")]);
    assert.deepEqual(model.find("a"), summary("a", marks));
  }
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

test("a row says in words and icon how a run is doing", () => {
  const row = rowOf({ kind: "run", run: summary("a") }, now);
  assert.deepEqual(
    { icon: row.icon, context: row.context, description: row.description },
    { icon: "play-circle", context: "run.running", description: "step 85 of 420 · r̄ 0.412" },
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

test("a run that came to nothing has a warning sign and the words for it, in row, tooltip, lens, notification and status bar", () => {
  const run = summary("a", {
    status: "finished",
    endedAt: "2026-11-21T17:00:00.000Z",
    first: { "eval/pass@1": 0.023 },
    last: { "eval/pass@1": 0 },
    verdict: {
      state: "hacking",
      label: "hacking `brevity`",
      since: 40,
      headline: "Hacking `brevity` since step 40: the reward rose and successes did not.",
    },
  });
  const row = rowOf({ kind: "run", run }, now);
  assert.deepEqual(
    { icon: row.icon, color: row.color, context: row.context, description: row.description },
    {
      icon: "warning",
      color: "problemsWarningIcon.foreground",
      context: "run.finished",
      description: "hacking brevity · pass@1 2.3 % → 0.0 % · 3 h ago",
    },
  );
  assert.match(row.spoken, /hacking brevity/);
  assert.match(runTooltip(run, now), /\$\(warning\) Hacking .?`brevity.?` since step 40/);
  assert.equal(endText(run), "finished, but hacking brevity");
  assert.equal(endText({ ...run, status: "stopped" }), "was stopped; hacking brevity");
  assert.equal(endText(summary("b", { status: "finished" })), "finished");
  assert.equal(statusText([], run), "$(warning) name of a: hacking brevity");
  assert.equal(statusText([summary("b")], run), "$(pulse) 1 run · r̄ 0.412");
  assert.equal(
    lastRunTitle(run, "up"),
    "Last run: $(warning) hacking brevity, reward 0.412, pass@1 2.3 % → 0.0 %",
  );
  const failed = rowOf({ kind: "run", run: { ...run, status: "failed" } }, now);
  assert.equal(failed.icon, "error");
  const live = rowOf({ kind: "run", run: { ...run, status: "running", step: 84, steps: 420 } }, now);
  assert.match(live.description, /^step 85 of 420 · hacking brevity/);
});

test("only a run that learned has a green tick; others that finished say what came of them", () => {
  const verdict = { state: "learning", label: "learning", since: 40, headline: "Learning." } as const;
  const look = (state: typeof verdict | { state: "flat"; label: string; since: null; headline: string }) => {
    const { icon, color, description } = rowOf(
      { kind: "run", run: summary("a", { status: "finished", verdict: state }) },
      now,
    );
    return [icon, color, description];
  };
  assert.deepEqual(look(verdict).slice(0, 2), ["pass", "testing.iconPassed"]);
  const flat = look({ state: "flat", label: "flat", since: null, headline: "Flat." });
  assert.deepEqual(flat.slice(0, 2), ["pass", null]);
  assert.match(String(flat[2]), /^flat/);
});

test("the lens has an arrow only where held-out answers did not get worse", () => {
  const better = { first: { "eval/pass@1": 0.2 }, last: { "eval/pass@1": 0.4 }, status: "finished" } as const;
  assert.equal(lastRunTitle(summary("a", better), "up"), "Last run: reward 0.412 ↑, pass@1 20.0 % → 40.0 %");
  const worse = { first: { "eval/pass@1": 0.2 }, headline: { "reward/total": 0.4, "eval/pass@1": 0.1 } };
  assert.equal(
    lastRunTitle(summary("a", worse), "up"),
    "$(pulse) Step 85 of 420: reward 0.400, pass@1 10.0 %",
  );
  assert.equal(lastRunTitle(summary("a", { status: "failed" })), "Last run: failed, reward 0.412");
  assert.equal(lastRunTitle(summary("a", { status: "reading" })), "Last run: reading its log");
});

test("while logs are read the view says how many, and their rows say so too", () => {
  assert.equal(readingText({ left: 0, all: 201 }), "");
  assert.equal(readingText({ left: 201, all: 201 }), "Reading 201 runs…");
  assert.equal(readingText({ left: 40, all: 201 }), "Reading runs: 40 of 201 left…");
  const row = rowOf({ kind: "run", run: summary("a", { status: "reading" }) }, now);
  assert.deepEqual(
    { icon: row.icon, description: row.description },
    { icon: "loading~spin", description: "reading its log" },
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
  const evaluations = [
    { step: 300, role: "first", metrics: { "eval/pass@1": 0.2, "eval/greedy": 0.31 } },
  ] as const;
  const parts = childrenOfRun(detail, evaluations, () => true);
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
  assert.equal(rowOf(parts[3]!, now).description, "2 checkpoints");

  const removed = childrenOfRun(detail, evaluations, (path) => path === "/c/100");
  assert.deepEqual(
    childrenOf(removed[3]!).map((part) => rowOf(part, now).label),
    ["Step 100"],
  );
  assert.equal(rowOf(removed[3]!, now).description, "1 checkpoint");
  assert.equal(childrenOfRun(detail, evaluations, () => false).length, 3);
});
