/** SRPO in a whole run of the tiny model: the teacher context is kept, what is distilled is reported, and a resumed run is the same. */
import assert from "node:assert/strict";
import { rmSync } from "node:fs";
import { join } from "node:path";
import { test } from "node:test";
import { essence, ofKind, testRun } from "../../../support/runFolder.ts";

test("failed rollouts learn from the average that has read a sibling, and a resumed run is the same", async () => {
  const run = testRun([
    "checkpoint.keep=9",
    "model.context=64",
    "reward={ terms: { brief: { use: length, shape: linear } }, success: { terms: [brief], at_least: 0.5 } }",
    "models={ teacher: { ema: { of: policy, decay: 0.5 } } }",
    "route=[{ when: [wrong, sibling], to: distil }]",
    "kl=[{ model: teacher, shown: { template: '{help}|{prompt}' }, estimator: full, coefficient: 1, mask: distilled, weight: { by: confidence } }]",
    "objective.aggregate=token_mean",
    "update.mini_batch=16",
  ]);
  try {
    assert.equal(await run.work(), 0, run.ending());
    const rows = ofKind(run.records(), "rollout").filter(
      ({ row }) => row.use === "train" && row.source === "self",
    );
    const taught = rows.filter(({ row }) => row.shown !== undefined);
    assert.ok(taught.length > 0);
    const succeeded = ({ row }: (typeof rows)[number]): boolean => Number(row.rewards?.["brief"]) >= 0.5;
    for (const one of taught) {
      const group = rows.filter(({ step, row }) => step === one.step && row.group === one.row.group);
      const others = group.filter((other) => other !== one && succeeded(other));
      assert.ok(others.some(({ row }) => row.response === one.row.shown!["sibling"]));
    }
    const distilled = rows.filter(({ row }) => row.touched?.["route: distil"] !== undefined);
    assert.ok(distilled.length > 0);
    assert.ok(distilled.every((one) => !succeeded(one) && one.row.shown !== undefined));
    const metrics = ofKind(run.records(), "metrics").map(({ values }) => values);
    assert.ok(metrics.some((values) => Number(values["route/distil"]) > 0));
    assert.ok(metrics.some((values) => Number(values["policy/kl/teacher@sibling"]) > 0));
    const whole = run.records();
    rmSync(join(run.folder, "checkpoints", "19"), { recursive: true });
    assert.equal(await run.work(1), 0, run.ending(1));
    assert.deepEqual(essence(run.records(1), 15), essence(whole, 15));
  } finally {
    run.remove();
  }
});

test("a replayed rollout's teacher is shown again what it was shown then, and a resumed run is the same", async () => {
  const run = testRun([
    "checkpoint.keep=9",
    "model.context=64",
    "reward={ terms: { brief: { use: length, shape: linear } }, success: { terms: [brief], at_least: 0.5 } }",
    "models={ teacher: { ema: { of: policy, decay: 0.5 } } }",
    "route=[{ when: [replayed, wrong, sibling], to: distil }]",
    "replay={ use: window, capacity: 64, share: 0.5 }",
    "kl=[{ model: teacher, shown: { template: '{help}|{prompt}' }, estimator: full, coefficient: 1, mask: distilled }]",
  ]);
  try {
    assert.equal(await run.work(), 0, run.ending());
    const rows = ofKind(run.records(), "rollout").map(({ row }) => row);
    const replayed = rows.filter(({ source, shown }) => source === "replay" && shown !== undefined);
    assert.ok(replayed.length > 0);
    for (const { task, response, shown } of replayed)
      assert.ok(
        rows.some(
          (row) =>
            row.source === "self" &&
            row.task?.id === task?.id &&
            row.response === response &&
            row.shown?.["sibling"] === shown?.["sibling"],
        ),
      );
    // The rule sends none but replayed rollouts there.
    const metrics = ofKind(run.records(), "metrics").map(({ values }) => values);
    assert.ok(metrics.some((values) => Number(values["route/distil"]) > 0));
    const whole = run.records();
    rmSync(join(run.folder, "checkpoints", "19"), { recursive: true });
    assert.equal(await run.work(1), 0, run.ending(1));
    assert.deepEqual(essence(run.records(1), 15), essence(whole, 15));
  } finally {
    run.remove();
  }
});
