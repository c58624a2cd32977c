/** What a run's curriculum drew, over the wire: counts that agree with the run's own groups and rollouts. */
import assert from "node:assert/strict";
import { mkdtempSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterEach, beforeEach, test } from "node:test";
import { ask } from "../../shared/daemon/request.ts";
import { curriculumQuery, rolloutsQuery, runsShow, stageSteps } from "../../shared/protocol.ts";
import { exportRun } from "../../server/cli/exportRun.ts";
import { readHistory } from "../../server/history/read.ts";
import { Sandbox } from "./daemon.ts";

let box: Sandbox;
beforeEach(async () => {
  box = await Sandbox.make();
});
afterEach(() => box.end());

const sum = (values: readonly (number | null)[]): number =>
  values.reduce<number>((total, value) => total + (value ?? 0), 0);

test("a run's history leaves it as the replay reads it: the groups that its curriculum saw", async () => {
  const connection = await box.connect();
  const run = await box.start(connection, 3, 1);
  await box.reach(connection, run, ({ status }) => status === "finished");
  const file = join(mkdtempSync(join(tmpdir(), "gradus-history-")), "history.jsonl");
  await exportRun(connection, await ask(connection, runsShow, { run }), { to: "history", out: file });
  const history = await readHistory(file);
  const { rollouts } = await ask(connection, rolloutsQuery, { run, where: 'use == "train"' });
  const { lanes } = await ask(connection, curriculumQuery, { run });
  assert.equal(history.length, sum(lanes.map(({ groups }) => groups)));
  assert.equal(sum(history.map(({ rewards }) => rewards.length)), rollouts.length);
});

test("groups and tokens are those of the run; a stage that is not in the config is refused", async () => {
  const connection = await box.connect();
  const run = await box.start(connection, 3, 1);
  await box.reach(connection, run, ({ status }) => status === "finished");
  const { rollouts } = await ask(connection, rolloutsQuery, { run, where: 'use == "train"', tokens: true });
  const { lanes, columns, to } = await ask(connection, curriculumQuery, { run });
  assert.equal(to, 2);
  assert.deepEqual(
    [sum(lanes.map(({ groups }) => groups)), sum(columns.map(({ admitted }) => admitted))],
    [3, 2],
  );
  assert.equal(
    sum(columns.map(({ tokens }) => tokens)),
    sum(rollouts.map(({ tokens }) => tokens?.length ?? 0)),
  );
  assert.equal(sum(columns.map(({ unmeasured }) => unmeasured)), 0);
  const [lane] = lanes;
  const marked = await ask(connection, rolloutsQuery, {
    run,
    where: `use == "train" && arm == ${JSON.stringify(lane?.name)}`,
  });
  assert.equal(marked.total, lane?.rollouts, "a lane's name finds its rollouts");
  const { authored } = await ask(connection, runsShow, { run });
  await assert.rejects(
    ask(connection, stageSteps, { run, text: authored, stage: "none", was: 3, steps: 4 }),
    /3 steps of stage none are not written/,
  );
});
