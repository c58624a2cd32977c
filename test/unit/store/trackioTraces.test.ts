/**
 * Traces of trackio as rollouts. The project is one of trackio's own; its traces are written after TRL's source
 * (`log_rollout_traces`) and trackio's (`_insert_trace_rows`), not by them.
 */
import assert from "node:assert/strict";
import { cpSync, mkdirSync } from "node:fs";
import { join } from "node:path";
import { test } from "node:test";
import { openDatabase } from "../../../server/store/drivers/driver.ts";
import { TrackioFeed } from "../../../server/store/imported/feeds/trackioFeed.ts";
import { imported } from "./importedFeed.ts";
import { newStore } from "./support.ts";

interface Logged {
  readonly step: number;
  readonly group?: number;
  readonly version: number;
  readonly answer: string | null;
  readonly reward: number | string;
}

/** A project of which one run has logged these. */
function project() {
  const folder = join(newStore().folder, "trackio");
  mkdirSync(folder, { recursive: true });
  const file = join(folder, "sums.db");
  for (const ending of ["", "-wal", "-shm"])
    cpSync(`test/fixtures/trackers/trackio/sums.db${ending}`, `${file}${ending}`);
  let count = 0;
  const log = (...traces: readonly Logged[]): void => {
    const { database } = openDatabase(file, { anyThread: true });
    for (const { step, group, version, answer, reward } of traces) {
      const messages = [
        { role: "user", content: "3 + 4 =" },
        ...(answer === null
          ? []
          : [
              {
                role: "assistant",
                content: "",
                tool_calls: [{ type: "function", function: { name: "add", arguments: { a: 3, b: 4 } } }],
              },
              { role: "tool", name: "add", content: "7" },
              { role: "assistant", content: answer },
            ]),
      ];
      const metadata = {
        ...{ reward, reward_std: 0.5, "rewards/right": reward, "tools/call_frequency": 1, advantage: 0.5 },
        ...(group === undefined ? {} : { group_id: group }),
        ...{ model_version: version, prompt_tokens: 5, completion_tokens: 9 },
      };
      database
        .prepare(
          "INSERT INTO traces (id, run_id, timestamp, run_name, step, key, trace_index, messages, metadata, search_text) VALUES (?, 'r', '2026-11-26T09:26:00+00:00', 'first', ?, 'rollouts', ?, ?, ?, '')",
        )
        .run(`r:l:rollouts:${count}`, step, count, JSON.stringify(messages), JSON.stringify(metadata));
      count += 1;
    }
    database.close();
  };
  return { folder, file, log };
}

test("traces are rollouts of their group, with TRL's rewards, its advantage and the weights that wrote them", async () => {
  const { folder, log } = project();
  log(
    { step: 2, group: 11, version: 2, answer: "7", reward: 1 },
    { step: 2, group: 11, version: 1, answer: "8", reward: "NaN" },
    { step: 3, group: 11, version: 1, answer: "7", reward: 0 },
    { step: 3, version: 3, answer: "9", reward: 0.25 },
    { step: 3, group: 12, version: 3, answer: null, reward: 0 },
  );
  const { summary, store, series } = await imported(folder);
  assert.deepEqual([summary.trainer, summary.groups, summary.rollouts], ["trackio", "recorded", 4]);
  const page = { run: summary.run, tokens: true, offset: 0, limit: 100 };
  const [first, second] = store.queries.rollouts({ ...page, step: 2 }).rollouts;
  assert.deepEqual(
    [first!.group, first!.index, first!.prompt, first!.response, first!.reward, first!.advantage],
    ["11", 0, "3 + 4 =", 'add({"a":3,"b":4})\n7\n7', 1, 0.5],
  );
  assert.deepEqual(
    [first!.rewards, first!.task?.data, first!.policy],
    [
      { right: 1 },
      { "tools/call_frequency": 1, prompt_tokens: 5, completion_tokens: 9 },
      { start: 2, end: 2 },
    ],
  );
  assert.deepEqual([second!.index, second!.reward], [1, "NaN"]);
  const later = store.queries.rollouts({ ...page, step: 3 }).rollouts;
  assert.deepEqual(
    later.map(({ group }) => group),
    ["11", "r:l:rollouts:3"],
    "what names no group is alone, and what nobody answered is no rollout",
  );
  assert.deepEqual(series("rollout/staleness"), { steps: [2, 3], values: [0.5, 1] });
  assert.deepEqual(series("reward/total")?.values.slice(0, 2), [0.375, 0.5], "metrics are the trainer's own");
});

test("a project that is being written: a step's traces come when a later step has some", () => {
  const { file, log } = project();
  const feed = new TrackioFeed(file);
  assert.equal(feed.about().groups, "none");
  const steps = (last: boolean): number[] =>
    feed.next(last).parts.flatMap(({ rows, step }) => (rows === undefined ? [] : [step]));
  assert.deepEqual(steps(false), []);
  log({ step: 1, group: 1, version: 1, answer: "7", reward: 1 });
  assert.equal(feed.about().groups, "recorded");
  assert.deepEqual(steps(false), []);
  log({ step: 2, group: 1, version: 2, answer: "7", reward: 1 });
  assert.deepEqual(steps(false), [1]);
  assert.deepEqual(steps(true), [2]);
  assert.deepEqual(steps(true), []);
});
