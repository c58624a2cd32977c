/** Runs that follow another program's folder: how long its steps take, when it has ended, and when it stands still. */
import assert from "node:assert/strict";
import { cpSync, mkdtempSync, readdirSync, rmSync, utimesSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { after, test } from "node:test";
import { abandonedAfter, completeAfter, paceOf, stillAfter } from "../../../server/analysis/verdict/pace.ts";
import { runFolder } from "../../../server/store/files.ts";
import { DumpFeed } from "../../../server/store/imported/feeds/dumpFeed.ts";
import { endOf } from "../../../server/store/imported/feeds/followEnd.ts";
import { writeWorker } from "../../../shared/run/lease.ts";
import { metrics, start, type Written } from "../log/sample.ts";
import { newStore, write } from "./support.ts";

const [second, minute, hour] = [1000, 60_000, 3_600_000];
const every = (gap: number, count = 20): number[] => Array.from({ length: count }, (_, i) => i * gap);

test("a pace is the trainer's own: of a folder that was copied its clock tells, of one without a clock the files", () => {
  assert.equal(paceOf([]), null);
  assert.equal(paceOf(every(0)), null, "all lines of one file, read at once");
  assert.equal(paceOf(every(43 * second))?.usual, 43 * second);
  assert.equal(paceOf(every(0), [43 * second, 44 * second, 45 * second])?.usual, 44 * second);
  assert.equal(paceOf(every(10 * minute), [minute])?.usual, 10 * minute, "every tenth step is written");
});

test("a folder is complete, and a step overdue, after ten of its own steps", () => {
  const [quick, slow] = [paceOf(every(second))!, paceOf(every(30 * minute))!];
  assert.deepEqual([stillAfter(quick), completeAfter(quick)], [5 * minute, 10 * minute]);
  assert.deepEqual([stillAfter(slow), completeAfter(slow)], [5 * hour, 5 * hour]);
  assert.equal(completeAfter(null), 2 * hour);
  assert.equal(abandonedAfter(slow), 10 * hour);
  const evaluates = paceOf([...every(second), 15 * minute])!;
  assert.ok(completeAfter(evaluates) > 40 * minute, "an evaluation has taken a quarter of an hour");
});

test("what a folder says of its end comes first, then its plan, then its pace", () => {
  const now = 10 * hour;
  const feed = (
    quiet: number,
    about: { planned?: number; ended?: { time: number; status: "failed" } } = {},
  ) => ({
    written: () => now - quiet,
    about: () => ({ version: null, groups: "uid", copies: false, notes: [], ...about }) as const,
  });
  const followed = { pace: paceOf(every(43 * second)), lastStep: 60 };
  const watch = { quiet: undefined, grew: true };
  const end = (quiet: number, about = {}) => endOf(feed(quiet, about), followed, watch, now);
  assert.equal(end(9 * minute), undefined);
  assert.equal(end(11 * minute)?.status, "finished");
  assert.match(
    end(11 * minute)?.message ?? "",
    /Nothing was written for 11 min after step 60, where a step takes 43 s/,
  );
  assert.equal(
    endOf(feed(11 * minute), followed, { ...watch, grew: false }, now)?.message,
    "",
    "it was complete",
  );
  assert.equal(end(2 * minute, { planned: 60 })?.status, "finished");
  assert.equal(end(119 * minute, { planned: 100 }), undefined);
  assert.deepEqual(end(121 * minute, { planned: 100 })?.status, "stopped");
  assert.match(
    end(121 * minute, { planned: 100 })?.message ?? "",
    /after step 60 of 100: .*open the folder again/,
  );
  assert.equal(end(0, { ended: { time: 1, status: "failed" } })?.status, "failed");
});

const folders: string[] = [];
after(() => folders.forEach((folder) => rmSync(folder, { recursive: true, force: true })));

test("metrics of verl have the times of their steps' files, however late they are read", () => {
  const out = mkdtempSync(join(tmpdir(), "gradus-follow-"));
  folders.push(out);
  cpSync("test/fixtures/imported/verl", out, { recursive: true });
  const began = 1_760_000_000;
  for (const name of readdirSync(join(out, "rollouts"))) {
    const at = began + 43 * Number.parseInt(name, 10);
    utimesSync(join(out, "rollouts", name), at, at);
  }
  const feed = new DumpFeed(out, { config: undefined });
  const { parts } = feed.next(false);
  const timed = parts.filter(({ values }) => values !== undefined);
  assert.ok(timed.length > 2);
  for (const { step, time } of timed) assert.equal(time, began + 43 * step);
});

const origin = {
  trainer: "verl",
  version: "0.9.1",
  folder: "/out",
  rollouts: 0,
  steps: 0,
  groups: "uid",
  advantages: null,
  copied: false,
} as const;

/** Sixty steps of 43 s, the last of them some time ago. */
function followed(ago: number, steps: number, alive = true) {
  const { folder, store } = newStore();
  const now = Date.now();
  const last = now - ago;
  const records = Array.from({ length: 60 }, (_, i): readonly [readonly Written[], number] => {
    const values = { "reward/total": 0.5, "time/total": 43, "rollout/count": 16 };
    const step = { ...metrics(i + 1, values), time: last - (59 - i) * 43 * second } as Written;
    return [[step], i + 1];
  });
  const begin = { ...start(0, null, "out"), origin, steps } as Written;
  write(folder, "out", 0, [[[begin], -1], ...records]);
  if (alive)
    writeWorker(runFolder(folder, "out"), {
      ...{ pid: 1, processStart: "1", place: { host: "other", boot: "other", pids: "other" } },
      ...{ attempt: 0, startedAt: new Date().toISOString(), version: "0" },
    });
  store.ingestAll("out");
  const [summary] = store.queries.list({ limit: 1 }).runs;
  return { summary, verdict: store.queries.verdict({ run: "out" }).verdict, store };
}

test("a followed folder without a plan raises no alarm by the clock: it may be complete", () => {
  for (const ago of [7 * minute, 9 * minute, 3 * hour]) {
    const { summary, verdict } = followed(ago, 1);
    assert.equal(summary?.status, "running");
    assert.notEqual(summary?.verdict?.state, "stalled");
    assert.notEqual(verdict?.state, "stalled");
  }
});

test("one with steps still to come stands still after ten of its own", () => {
  assert.notEqual(followed(7 * minute, 101).verdict?.state, "stalled");
  const { verdict } = followed(8 * minute, 101);
  assert.equal(verdict?.state, "stalled");
  assert.match(verdict?.headline ?? "", /after step 60, where a step takes 43 s/);
  assert.notEqual(followed(8 * minute, 61).verdict?.state, "stalled", "all that was planned is made");
});

test("a log that is being read has no verdict yet, and none by the clock", () => {
  const { summary, verdict, store } = followed(400 * 24 * hour, 101, false);
  assert.deepEqual([summary?.status, summary?.verdict, verdict], ["reading", undefined, null]);
  assert.equal(store.queries.isStalled("out"), false);
});
