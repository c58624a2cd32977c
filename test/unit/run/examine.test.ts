/** `gradus evaluate` and the names of checkpoints, on a run's own folder. */
import assert from "node:assert/strict";
import { cpSync, mkdirSync, mkdtempSync, realpathSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { test } from "node:test";
import { findCheckpoint } from "../../../server/cli/runs/checkpointNames.ts";
import { loadConfig } from "../../../server/rules/load.ts";
import { examine } from "../../../server/run/evaluation/examine.ts";
import { TextPattern } from "../../../server/lib/texts/textPattern.ts";
import { SampledAnswers } from "../../../server/run/evaluation/sampledAnswers.ts";
import { evaluationRecord } from "../../../server/run/step/log/rolloutRecord.ts";
import { rowOf } from "../../../server/store/queries/rolloutRow.ts";
import { minimal, ofKind, testRun } from "../../support/runFolder.ts";

test("a checkpoint measured by itself gives what the run measured, and every answer", async () => {
  const run = testRun(["stages.warm-up.steps=150", "stages.practice.steps=2", "evaluation.prompts=16"]);
  try {
    assert.equal(await run.work(), 0, run.ending());
    const last = ofKind(run.records(), "evaluation").at(-1)!.metrics;
    const { config } = loadConfig(minimal);
    const rows: ReturnType<typeof rowOf>[] = [];
    const sampled = new SampledAnswers(new TextPattern("(.*)"), true);
    const { report, tasks, results } = await examine(findCheckpoint(run.folder), config!, {
      keep: (answered) => {
        sampled.take(answered);
        for (let row = 0; row < answered.batch.rows; row++)
          rows.push(
            rowOf({ kind: "rollout", step: 0, index: row, ...evaluationRecord(0, answered, row) }, true),
          );
      },
    });
    assert.deepEqual(report.metrics, last);
    assert.ok(last["eval/greedy"]! > 0, "the warm-up taught something to measure");
    assert.equal(tasks.length, 16);
    assert.equal(rows.length, 16 * (1 + 2));
    assert.ok(
      rows.every(({ use, tokens, logp_old }) => use === "evaluate" && tokens!.length === logp_old!.length),
    );
    const of = (group: string): number[] =>
      rows.flatMap((row) => (row.group === group ? [row.index] : [])).sort((a, b) => a - b);
    assert.deepEqual(of(rows[0]!.group), [0, 1, 2], "the greedy answer is number 0");
    const right = rows.filter(({ index, rewards }) => index === 0 && rewards?.["correct"] === 1).length;
    assert.equal(right / 16, last["eval/greedy"]);
    assert.equal(results.tasks.length, 16);
    const own = sampled.byTask.flat().map(({ mean_logp }) => mean_logp);
    const { scored } = await examine(findCheckpoint(run.folder), config!, { score: sampled.batches });
    assert.equal(own.length, 16 * 2);
    own.forEach((logp, i) => assert.ok(Math.abs(scored![i]! - logp) < 1e-3, `${scored![i]} for ${logp}`));
  } finally {
    run.remove();
  }
});

test("a reward that reads the policy before training reads the evaluated model itself, and this is said", async () => {
  const run = testRun(["stages.warm-up.steps=2", "stages.practice.steps=1"]);
  try {
    assert.equal(await run.work(), 0, run.ending());
    const { config } = loadConfig(minimal, {
      set: ["reward.terms.novel={ use: elliptical_bonus, gate: none }", "evaluation.prompts=4"],
    });
    const said: string[] = [];
    const { report } = await examine(findCheckpoint(run.folder), config!, {
      report: (message) => void said.push(message),
    });
    assert.ok(report.metrics["eval/reward/novel"] !== undefined);
    assert.ok(said.some((message) => /reads `reference`/.test(message)));
  } finally {
    run.remove();
  }
});

test("a run of the store is named by id, beginning, name or last, with a step", async () => {
  const run = testRun(["stages.warm-up.steps=1", "stages.practice.steps=6"]);
  const workspace = realpathSync(mkdtempSync(join(tmpdir(), "gradus-names-")));
  try {
    assert.equal(await run.work(), 0, run.ending());
    const runs = join(workspace, ".gradus", "runs");
    for (const [id, name, createdAt] of [
      ["alpha-1", "alpha", "2026-01-01T00:00:00Z"],
      ["alpha-2", "alpha", "2026-01-02T00:00:00Z"],
      ["beta-1", "beta", "2026-01-01T12:00:00Z"],
    ] as const) {
      mkdirSync(join(runs, id), { recursive: true });
      cpSync(join(run.folder, "checkpoints"), join(runs, id, "checkpoints"), { recursive: true });
      writeFileSync(
        join(runs, id, "run.json"),
        JSON.stringify({ id, file: minimal, name, set: [], createdAt }),
      );
    }
    const policy = (id: string, step: number): string =>
      join(runs, id, "checkpoints", String(step), "policy");
    const find = (words: string): string => findCheckpoint(words, workspace);
    assert.equal(find("beta-1"), policy("beta-1", 6));
    assert.equal(find("bet"), policy("beta-1", 6));
    assert.equal(find("alpha"), policy("alpha-2", 6), "the newest of the name");
    assert.equal(find("last@4"), policy("alpha-2", 4));
    assert.equal(find("beta@last"), policy("beta-1", 6));
    assert.equal(find(`${join(runs, "alpha-1")}@4`), policy("alpha-1", 4));
    assert.equal(find(policy("alpha-1", 4)), policy("alpha-1", 4));
    assert.throws(() => find("alph"), /2 runs begin with alph: alpha-1, alpha-2/);
    assert.throws(() => find("gamma"), /does not exist/);
    assert.throws(() => find("beta@best"), /keeps no best checkpoint/);
    assert.throws(() => find("beta@3"), /is not a checkpoint/);
  } finally {
    run.remove();
    rmSync(workspace, { recursive: true });
  }
});
