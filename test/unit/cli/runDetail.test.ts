/** `gradus runs show`, as a person reads it who knows the trainer and not Gradus. */
import assert from "node:assert/strict";
import { test } from "node:test";
import { detailLines } from "../../../server/cli/text/runDetail.ts";
import { runTable } from "../../../server/cli/text/runTable.ts";
import type { RunDetail } from "../../../shared/protocol/protocol.ts";
import { detailAt } from "../extension/panelRig.ts";

const log = "/home/me/slurm-123.out";
const time = "2026-01-02T10:00:00.000Z";
const imported: RunDetail = {
  ...detailAt(300),
  id: "slurm-123-out-20260102-100000-1f2e",
  file: log,
  folder: "/home/me/.gradus/runs/one",
  status: "finished",
  steps: 301,
  startedAt: time,
  endedAt: time,
  stage: "rl",
  backend: "TRL",
  backendReason: `imported from ${log}`,
  headline: { "reward/total": 1.1 },
  first: { "eval/reward/total": 0.41 },
  last: { "eval/reward/total": 0.12 },
  origin: {
    trainer: "trl",
    version: null,
    folder: log,
    rollouts: 0,
    steps: 0,
    groups: "none",
    advantages: null,
    copied: false,
  },
};

test("of a log there is what it says, and neither a config, a backend nor a time that it took", () => {
  assert.deepEqual(detailLines({ run: imported, verdict: null }), [
    "slurm-123-out-20260102-100000-1f2e  finished  300/300 steps",
    `imported    TRL, from ${log}`,
    "folder      /home/me/.gradus/runs/one",
    `written     ${time}`,
    "last step   reward/total 1.100",
    "held-out    eval/reward/total 0.410 → 0.120",
  ]);
  assert.doesNotMatch(runTable([imported], undefined, Date.parse(time)).join("\n"), /\d s/);
});

test("a run of Gradus's own has its config, stage and backend, and a log with times how long it took", () => {
  const { origin: _, ...rest } = imported;
  const own = detailLines({
    run: { ...rest, file: "/home/me/a.gradus.yaml", backend: "native", backendReason: null },
    verdict: null,
  });
  for (const line of [
    / {2}rl$/,
    /^config {6}\/home\/me\/a\.gradus\.yaml$/,
    /^backend {5}native$/,
    /^started /,
  ])
    assert.ok(
      own.some((one) => line.test(one)),
      own.join("\n"),
    );
  const later = { ...imported, endedAt: "2026-01-02T11:00:00.000Z" };
  assert.match(runTable([later], undefined, Date.parse(time)).join("\n"), / {2}1\.0 h /);
});
