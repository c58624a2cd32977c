/** Guidance in whole runs of the tiny model: who is helped, what trains, what is recorded, and that a resumed run is the same. */
import assert from "node:assert/strict";
import { rmSync } from "node:fs";
import { join } from "node:path";
import { test } from "node:test";
import type { LogRecord, RolloutRecordLog } from "../../../../shared/log/records.ts";
import { essence, ofKind, testRun, type TestRun } from "../../../support/runFolder.ts";
import { inLong } from "../../../support/thorough.ts";

type Values = Readonly<Record<string, number | string | null>>;
const metricsOf = (run: TestRun, from = 10): Values[] =>
  ofKind(run.records(), "metrics")
    .filter(({ step }) => step >= from)
    .map(({ values }) => values);
const rolloutsOf = (run: TestRun): RolloutRecordLog[] =>
  ofKind(run.records(), "rollout").filter(({ step, row }) => step >= 10 && row.use === "train");

async function finished(...set: readonly string[]): Promise<TestRun> {
  const run = testRun(["checkpoint.keep=9", ...set]);
  assert.equal(await run.work(), 0, run.ending());
  return run;
}

/** Takes the last checkpoint away and runs on from the one before it: everything after must be as it was. */
async function sameAgain(run: TestRun): Promise<void> {
  const whole: readonly LogRecord[] = run.records();
  rmSync(join(run.folder, "checkpoints", "19"), { recursive: true });
  assert.equal(await run.work(1), 0, run.ending(1));
  assert.deepEqual(essence(run.records(1), 15), essence(whole, 15));
}

/** A policy that was taught little: nearly every group fails. */
const untaught = ["tasks=[{ env: reverse_text, lengths: [4] }]"];

inLong(
  "GHPO: groups that fail are written again with more and more of the solution, and succeed",
  async () => {
    const run = await finished(
      ...untaught,
      "guidance={ trigger: all_fail, source: { use: solution, by: character }, amount: ladder }",
    );
    try {
      const rows = rolloutsOf(run);
      const helped = rows.filter(({ row }) => row.source === "guided");
      assert.ok(helped.length > rows.length / 2, `${helped.length} of ${rows.length}`);
      for (const { row, columns } of helped) {
        const given = row.help!.given!;
        assert.equal(given, Math.floor(row.help!.share! * 4 + 1e-9), "so many of the four letters");
        assert.deepEqual(
          [...columns.origin!].map((kind) => kind === 1),
          [...columns.origin!].map((_, t) => t < given),
        );
        assert.deepEqual(
          [...columns.mask!],
          [...columns.origin!].map((kind) => (kind === 0 ? 1 : 0)),
        );
        assert.ok(Number.isNaN(columns.logp_old![0]!));
      }
      assert.ok(helped.some(({ row }) => row.help!.round === 2 && row.help!.share === 0.75));
      const steps = metricsOf(run);
      assert.ok(steps.some((values) => Number(values["guidance/success"]) > 0));
      assert.ok(steps.every((values) => Number(values["guidance/plain_success"]) <= 0.2));
      assert.equal(ofKind(run.records(), "event").filter(({ name }) => name === "no-help").length, 0);
      await sameAgain(run);
    } finally {
      run.remove();
    }
  },
);

test("what prefilled tokens are compared with is recorded: the weights that the step found", async () => {
  const run = await finished(
    ...untaught,
    "guidance={ trigger: all_fail, source: { use: solution, by: character }, amount: { use: fixed, share: 0.5 }, trains: all }",
  );
  try {
    const rows = rolloutsOf(run).filter(({ row }) => row.admitted);
    assert.ok(rows.some(({ row }) => row.source === "guided"));
    for (const { row, columns } of rows)
      columns.logp_proximal!.forEach((value, t) => {
        const written = columns.logp_old![t]!;
        const given = columns.origin![t] === 1;
        assert.equal(given && row.source === "guided", Number.isNaN(written));
        assert.ok(given ? value <= 0 : Math.abs(value - written) < 1e-3, `${value} and ${written}`);
      });
  } finally {
    run.remove();
  }
});

test("Guide: what was generated from a hint trains with the bare prompt, against the log-probs it was written with", async () => {
  const run = await finished(
    ...untaught,
    "model.context=64",
    "reward.terms={ correct: exact_match, brief: { use: length, shape: linear, weight: 0.1 } }",
    "guidance={ trigger: all_fail, source: { use: solution, place: prompt, template: '{help}|{prompt}' }, amount: { use: fixed, share: 1 }, context: strip, ratio: true_behaviour, place: append }",
  );
  try {
    const rows = rolloutsOf(run);
    const helped = rows.filter(({ row }) => row.source === "guided");
    const plain = rows.filter(({ row }) => row.source === "self");
    assert.ok(helped.length > 0 && plain.length >= helped.length);
    for (const { row, columns, step } of helped) {
      const sibling = plain.find((one) => one.step === step && one.row.group === row.group)!;
      assert.deepEqual([...columns.train_context!], [...sibling.columns.context!], "the bare prompt");
      assert.notDeepEqual([...columns.context!], [...columns.train_context!]);
      assert.ok(row.help!.stripped === true && row.help!.prompt!.endsWith(row.prompt!));
      assert.ok(
        columns.logp_old!.every((value) => value <= 0),
        "all of it was written",
      );
      assert.ok(row.index >= 4, "behind the group");
    }
    const ratios = metricsOf(run).map((values) => Number(values["update/ratio_max"] ?? 1));
    assert.ok(
      ratios.some((value) => Math.abs(value - 1) > 0.01),
      "the ratio sees the missing hint",
    );
    await sameAgain(run);
  } finally {
    run.remove();
  }
});

inLong(
  "SEELE: a task that comes again begins where it left off, its hint is learned, and a resumed run is the same",
  async () => {
    const run = await finished(
      "tasks=[{ env: reverse_text, lengths: [3], alphabet: ab }]",
      "rollout.group=8",
      "guidance={ trigger: always, source: { use: solution, by: character }, amount: { use: irt, fit: least_squares, first: 0.999, remember: true }, ratio: imitation, trains: all }",
    );
    try {
      const rows = rolloutsOf(run);
      const last = new Map<string, number>();
      let again = 0;
      for (const { row, columns } of rows) {
        const { share, round, curve } = row.help!;
        if (round === 0) again += Number(last.get(row.task!.id!) === share);
        assert.equal(curve === undefined, round === 0);
        if (round === 3) last.set(row.task!.id!, share!);
        assert.deepEqual(
          [...columns.mask!],
          [...columns.origin!].map(() => 1),
          "hints train",
        );
      }
      assert.ok(again > 20, `${again} rollouts began where their task left off`);
      await sameAgain(run);
    } finally {
      run.remove();
    }
  },
);
