import assert from "node:assert/strict";
import { test } from "node:test";
import { Recorder, type Appended } from "../../../server/run/recorder.ts";
import type { JudgedCriterion } from "../../../shared/criteria.ts";

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
