/** A log that others write while a run goes on, in whole runs on the real engine. */
import assert from "node:assert/strict";
import { appendFileSync, mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { test } from "node:test";
import { GrowingLog } from "../../../server/run/step/replay/growingLog.ts";
import { WaitingGroups } from "../../../server/run/step/replay/waitingGroups.ts";
import { essence, ofKind, testRun } from "../../support/runFolder.ts";

const line = (group: string, index: number, response: string, more: object = {}): string =>
  `${JSON.stringify({ run: "other", step: 0, group, index, prompt: group, response, ...more })}\n`;

function project(): { folder: string; log: string; file: string } {
  const folder = mkdtempSync(join(tmpdir(), "gradus-shared-"));
  const log = join(folder, "log.jsonl");
  const file = join(folder, "c.gradus.yaml");
  const tasks = ["ab", "cd", "ef", "gh"].map((prompt) => JSON.stringify({ prompt, answer: prompt }));
  writeFileSync(join(folder, "tasks.jsonl"), tasks.join("\n"));
  writeFileSync(
    file,
    `model: { base: tiny, width: 16, layers: 1, heads: 1, hidden: 16, context: 16 }
tasks: [{ dataset: ./tasks.jsonl, prompt: "{prompt}", answer: "{answer}" }]
rollout: { prompts: 2, group: 2, max_tokens: 3 }
reward: { terms: { brief: { use: length, shape: linear } } }
replay:
  use: shared_log
  path: log.jsonl
  retokenize: true
  share: 0.5
  admission: nonzero_advantage
  rescore: { use: recomputed, terms: again, once: true }
  held_out: train
steps: 4
evaluation: { every: 1000, prompts: 1, pass_at: [1], record: 0 }
checkpoint: { every: 1, keep: 9 }
`,
  );
  return { folder, log, file };
}

test("whole groups with an advantage train, each line is read once, and a killed run goes on the same", async () => {
  const { folder, log, file } = project();
  writeFileSync(
    log,
    line("ab", 0, "x") +
      line("ab", 1, "xyz") +
      line("same", 0, "x") +
      line("same", 1, "y") +
      "{ no json\n" +
      line("ef", 0, "x") +
      '{"run":"other","st',
  );
  const run = testRun([], file);
  try {
    assert.equal(await run.work(), 0, run.ending());
    const steps = ofKind(run.records(), "metrics").map(({ values }) => values);
    assert.deepEqual(
      steps.map((one) => one["replay/read"]),
      [4, 0, 0, 0],
    );
    assert.deepEqual(
      steps.map((one) => one["replay/left_out"]),
      [1, 0, 0, 0],
    );
    assert.deepEqual(
      steps.map((one) => one["replay/size"]),
      [2, 2, 2, 2],
    );
    const replayed = ofKind(run.records(), "rollout").filter(({ row }) => row.source === "replay");
    assert.ok(replayed.length > 0 && replayed.every(({ row }) => row.prompt === "ab"));
    assert.match(
      ofKind(run.records(), "event").find(({ name }) => name === "shared-log-lines")!.message,
      /log\.jsonl:5: /,
    );
    const whole = run.records();
    for (const step of [2, 3]) rmSync(join(run.folder, "checkpoints", String(step)), { recursive: true });
    assert.equal(await run.work(1), 0, run.ending(1));
    assert.deepEqual(essence(run.records(1), 2), essence(whole, 2));
    // What has come meanwhile is taken up where reading had ended: the torn line and the half group are whole now.
    appendFileSync(log, 'ep":0,"group":"ef","index":1,"prompt":"ef","response":"xyz"}\n');
    for (const step of [2, 3]) rmSync(join(run.folder, "checkpoints", String(step)), { recursive: true });
    assert.equal(await run.work(2), 0, run.ending(2));
    const later = ofKind(run.records(2), "metrics").map(({ values }) => [
      values["replay/read"],
      values["replay/size"],
    ]);
    assert.deepEqual(later, [
      [2, 4],
      [0, 4],
    ]);
  } finally {
    run.remove();
    rmSync(folder, { recursive: true, force: true });
  }
});

test("a log that is not there yet is no error", () => {
  const source = {
    kind: "log",
    path: "/nowhere/log.jsonl",
    capacity: 4,
    retokenize: false,
    publish: false,
    heldOut: "train",
  } as const;
  assert.deepEqual(new GrowingLog(source).next(2, 0).groups, []);
});

test("groups that are drawn whole are kept whole, also where a rollout has no advantage of its own", async () => {
  const { folder, log, file } = project();
  const three = ["x", "xy", "xyz"].map((response, i) => line("ab", i, response)).join("");
  writeFileSync(log, three + line("same", 0, "x") + line("same", 1, "y"));
  const run = testRun(["replay.rescore={ use: recomputed, terms: again }", "steps=1"], file);
  try {
    assert.equal(await run.work(), 0, run.ending());
    const [metrics] = ofKind(run.records(), "metrics");
    assert.deepEqual([metrics?.values["replay/read"], metrics?.values["replay/size"]], [5, 3]);
  } finally {
    run.remove();
    rmSync(folder, { recursive: true, force: true });
  }
});

test("a group waits for its last rollout, or for a later step of its run, and the oldest are given up", () => {
  const waiting = new WaitingGroups();
  const add = (run: string, step: number, group: string, index: number): void =>
    waiting.add({ row: { run, step, group, index }, place: { file: "", line: 0 }, text: "" });
  const complete = (): string[] =>
    waiting.complete(2).map((rows) => rows.map(({ row }) => `${row.run}${row.group}${row.index}`).join(" "));
  add("a", 0, "g", 0);
  add("b", 0, "g", 0);
  assert.deepEqual(complete(), []);
  add("b", 0, "g", 1);
  add("b", 0, "g", 2);
  add("a", 1, "h", 0);
  assert.deepEqual(complete(), ["ag0", "bg0 bg1 bg2"]);
  add("c", 0, "g", 0);
  assert.deepEqual(
    waiting.lines.map(({ row }) => row.group),
    ["h", "g"],
  );
  assert.equal(waiting.trim(2), 0);
  assert.equal(waiting.trim(1), 1);
  assert.deepEqual(
    waiting.lines.map(({ row }) => row.run),
    ["c"],
  );
});
