import assert from "node:assert/strict";
import { cpSync, rmSync, writeFileSync } from "node:fs";
import { dirname, join } from "node:path";
import { test } from "node:test";
import { Recorder, type Appended } from "../../../server/run/step/log/recorder.ts";
import { runFolder } from "../../../server/store/files.ts";
import { Store } from "../../../server/store/store.ts";
import type { JudgedCriterion } from "../../../shared/rollouts/criteria.ts";
import { rewardHost } from "../../support/rewardHost.ts";
import { minimal, ofKind, testRun } from "../../support/runFolder.ts";
import { temporary } from "../support.ts";

await rewardHost();

const criteria = (...met: (number | null)[]): JudgedCriterion[] => [
  { name: "dose", text: "names the dose", points: 5, met: met[0] ?? null },
  { text: "recommends what is harmful", points: -4, veto: true, met: met[1] ?? null },
];
const rollout = (index: number, details?: Record<string, { criteria: JudgedCriterion[] }>): Appended => ({
  kind: "rollout",
  step: 3,
  index,
  row: { step: 3, group: "g", index, ...(details && { details }) },
  columns: {},
});

test("criteria are recorded once a commit, and of each rollout what is met", () => {
  const kept: Appended[] = [];
  const heard: Appended[] = [];
  const recorder = new Recorder(
    { append: (record) => kept.push(record as Appended), commit: () => undefined, sync: () => undefined },
    (record) => heard.push(record),
  );
  recorder.append(rollout(0, { style: { criteria: criteria(1, 0) } }));
  recorder.append(rollout(1, { style: { criteria: criteria(0.5) }, other: { criteria: criteria(0, 1) } }));
  recorder.append(rollout(2));
  assert.deepEqual(
    kept.map(({ kind }) => kind),
    ["criteria", "rollout", "rollout", "rollout"],
  );
  const [record, first, second, third] = kept;
  assert.ok(record?.kind === "criteria" && first?.kind === "rollout" && second?.kind === "rollout");
  assert.deepEqual(record.criteria, [
    { name: "dose", text: "names the dose", points: 5 },
    { text: "recommends what is harmful", points: -4, veto: true },
  ]);
  assert.deepEqual(first.row.judged, { style: { of: record.id, met: [1, 0] } });
  assert.deepEqual(second.row.judged, {
    style: { of: record.id, met: [0.5, null] },
    other: { of: record.id, met: [0, 1] },
  });
  assert.equal("details" in first.row, false);
  assert.deepEqual(third, rollout(2));
  assert.deepEqual(
    heard[0],
    rollout(0, { style: { criteria: criteria(1, 0) } }),
    "who listens hears all of it",
  );
  recorder.commit(3);
  recorder.append(rollout(0, { style: { criteria: criteria(1, 0) } }));
  assert.deepEqual(kept.at(-2), record, "each commit stands for itself");
});

test("what a reward says of criteria comes out of a run's log, its metrics and its store", async () => {
  const folder = temporary();
  const file = join(folder, "judged.gradus.yaml");
  writeFileSync(
    join(folder, "style.ts"),
    "export const score = ({ response, index }) => ({ value: index % 2, criteria: { short: response.length < 3, even: { met: index % 2 === 0, points: 2 } } });",
  );
  writeFileSync(
    file,
    `extends: ${minimal}\nreward: { terms: { style: { use: ./style.ts } } }\nstages: [{ name: only, steps: 1 }]\nevaluation: { prompts: 2, record: 2 }\n`,
  );
  const run = testRun([], file);
  const base = temporary();
  try {
    assert.equal(await run.work(), 0, run.ending());
    const records = run.records();
    const listed = ofKind(records, "criteria");
    assert.equal(new Set(listed.map(({ id }) => id)).size, 1);
    assert.deepEqual(listed[0]!.criteria, [
      { text: "short", points: 1 },
      { text: "even", points: 2 },
    ]);
    const judged = ofKind(records, "rollout").map(({ row }) => row.judged?.["style"]);
    assert.ok(judged.length > 16 && judged.every((one) => one?.of === listed[0]!.id), "evaluations, too");
    const [measured] = ofKind(records, "metrics");
    assert.equal(measured!.values["reward/style/even"], 0.5);
    assert.ok(Number(measured!.values["reward/style/short"]) >= 0);
    cpSync(join(run.folder, "log"), join(runFolder(join(base, ".gradus"), "test"), "log"), {
      recursive: true,
    });
    const store = new Store(join(base, ".gradus"), { anyThread: true });
    try {
      store.ingestAll("test");
      const where = 'criteria.style["even"] == 1 && use == "train"';
      const { rollouts } = store.queries.rollouts({ run: "test", where, tokens: false, limit: 100 });
      assert.equal(rollouts.length, 8);
      for (const { index, details } of rollouts) {
        assert.equal(index % 2, 0);
        assert.deepEqual(details?.["style"]?.criteria[1], { text: "even", points: 2, met: 1 });
      }
    } finally {
      store.close();
    }
  } finally {
    run.remove();
    rmSync(base, { recursive: true, force: true });
    rmSync(dirname(file), { recursive: true, force: true });
  }
});
