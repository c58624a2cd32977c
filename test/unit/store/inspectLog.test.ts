/** Answers as a log of Inspect: read again by our feed, and by Inspect itself where it is installed. */
import assert from "node:assert/strict";
import { spawnSync } from "node:child_process";
import { join } from "node:path";
import { before, describe, it } from "node:test";
import { writeInspectLog } from "../../../server/store/exported/inspectLog.ts";
import { InspectFeed } from "../../../server/store/imported/feeds/evaluations/inspectFeed.ts";
import type { RolloutRow } from "../../../shared/rollouts/rollouts.ts";
import { pythonWith } from "../../support/pythonPackages.ts";
import { thorough } from "../../support/thorough.ts";
import { temporary } from "../support.ts";

const row = (group: string, index: number, more: Partial<RolloutRow>): RolloutRow => ({
  step: 0,
  group,
  index,
  task: { env: "sums", arm: "sums/2", id: group, data: { a: 2 }, answer: "4" },
  prompt: "2+2?",
  response: "4",
  finish: "stop",
  use: "evaluate",
  rewards: { correct: 1, brevity: 0.5 },
  ...more,
});
const rows: readonly RolloutRow[] = [
  row("sums:2/2", 0, {}),
  row("sums:2/2", 1, { response: "5", finish: "length", rewards: { correct: 0, brevity: "NaN" } }),
  row("other", 0, { rewards: { correct: 1, brevity: null } }),
];

describe("a log of Inspect", () => {
  const file = join(temporary(), "answers.eval");
  before(() =>
    writeInspectLog(file, rows, {
      task: "sums",
      model: "last",
      started: new Date("2026-11-27T00:00:00.500Z"),
      ended: new Date("2026-11-27T00:01:00Z"),
      version: "0.0.0",
    }),
  );

  it("has every answer, as our own reader finds it", () => {
    const feed = new InspectFeed(file);
    const read = feed.next(true).parts.flatMap(({ rows: own = [] }) => own);
    assert.deepEqual(
      read.map(({ group, index, prompt, response, finish, rewards, task }) => [
        ...[group, index, prompt, response, finish, rewards, task?.answer],
      ]),
      [
        ["sums:2/2", 0, "2+2?", "4", "stop", { correct: 1, brevity: 0.5 }, "4"],
        ["sums:2/2", 1, "2+2?", "5", "length", { correct: 0 }, "4"],
        ["other", 0, "2+2?", "4", "stop", { correct: 1 }, "4"],
      ],
    );
    assert.deepEqual(feed.about().ended?.status, "finished");
    feed.close();
  });

  const wanted = { versions: ["3.12", "3.11"], whole: ["inspect_ai==0.3.285"], alone: [] };
  const found = pythonWith("inspect_ai.log", wanted, thorough);
  it("is one to Inspect", { skip: found.kind === "none" ? found.why : false }, () => {
    const script = `
import json, sys
from inspect_ai.log import read_eval_log
log = read_eval_log(sys.argv[1])
print(json.dumps({
    "status": log.status, "task": log.eval.task, "epochs": log.eval.config.epochs,
    "mean": log.results.scores[0].metrics["mean"].value,
    "samples": sorted([s.id, s.epoch, s.target, {k: v.value for k, v in s.scores.items()}] for s in log.samples),
}))`;
    const { stdout, stderr } = spawnSync(found.kind === "python" ? found.path : "", ["-c", script, file], {
      encoding: "utf8",
    });
    assert.deepEqual(
      JSON.parse(stdout || stderr),
      {
        status: "success",
        task: "sums",
        epochs: 2,
        mean: 2 / 3,
        samples: [
          ["other", 1, "4", { correct: 1 }],
          ["sums:2/2", 1, "4", { correct: 1, brevity: 0.5 }],
          ["sums:2/2", 2, "4", { correct: 0 }],
        ],
      },
      stderr,
    );
  });
});
