/** What a run's curriculum drew, over the wire: counts that agree with the run's own groups and rollouts. */
import assert from "node:assert/strict";
import { mkdtempSync, readFileSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterEach, beforeEach, test } from "node:test";
import { ask } from "../../../shared/daemon/request.ts";
import {
  curriculumQuery,
  eventsQuery,
  rolloutsQuery,
  runsDelete,
  runsShow,
  runsStart,
  stageSteps,
} from "../../../shared/protocol/protocol.ts";
import { exportRun } from "../../../server/cli/runs/exporting/exportRun.ts";
import { loadConfig } from "../../../server/rules/load.ts";
import { readHistory } from "../../../server/analysis/history/read.ts";
import { replay } from "../../../server/analysis/history/replay.ts";
import { Sandbox } from "../daemon.ts";

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
    /does not set the 3 steps of stage none/,
  );
});

/** The run's own export goes through its config: each step with what was recorded of its curriculum. */
async function assertReplayed(config: string, file: string): Promise<void> {
  const history = await readHistory(file);
  const steps = new Set(history.map(({ step }) => step));
  const told = history.flatMap(({ curriculum }) => curriculum ?? []);
  assert.equal(told.length, steps.size, "each step says what its curriculum learned beside the groups");
  assert.ok(told.some((one) => one.told.some(({ kind }) => kind === "tried")));
  assert.ok(history.every(({ successes }) => successes !== undefined));
  const { config: resolved } = loadConfig(config);
  assert.ok(resolved);
  assert.equal([...replay(resolved, history)].length, steps.size);
}

const points = `extends: again
name: points
model: { base: tiny, width: 16, layers: 1, heads: 2, hidden: 32, context: 64 }
tasks: [{ env: reverse_text }]
rollout: { prompts: 10, group: 4, max_tokens: 4 }
reward: { terms: { even: ./even.ts } }
curriculum:
  arms: { box: { length: [1, 24] } }
  sampler: { fit_every: 20, components: [1, 2], probe_every: 20, probe_points: 4, probe_samples: 2, least: 0 }
evaluation: { every: 9, prompts: 2, pass_at: [1] }
steps: 8
`;

test("a run follows what an earlier one exported, though that is deleted meanwhile; one without a curriculum says so", async () => {
  const folder = join(box.file, "..");
  const config = join(folder, "points.gradus.yaml");
  // About half of what an untrained model writes.
  writeFileSync(
    join(folder, "even.ts"),
    "export const score = ({ response }: { response: string }): number => (response.charCodeAt(0) || 1) % 2;",
  );
  writeFileSync(config, points);
  const connection = await box.connect({ environment: { GRADUS_IDLE_MS: "60000" } });
  const finished = async (set: string[]): Promise<string> => {
    const { run } = await ask(connection, runsStart, { file: config, set });
    const { status, message } = await box.reach(connection, run, (detail) => detail.endedAt !== null);
    assert.equal(status, "finished", message ?? "");
    return run;
  };
  const first = await finished([]);
  const file = join(folder, "past.jsonl");
  await exportRun(connection, await ask(connection, runsShow, { run: first }), {
    to: "curriculum",
    out: file,
  });
  const past = JSON.parse(readFileSync(file, "utf8"));
  assert.deepEqual(
    {
      run: past.run,
      mixturesLength: past.mixtures.length,
      knowledgeLength: past.knowledge.length,
      pointsLength: past.knowledge[0].points.length,
    },
    { run: first, mixturesLength: 4, knowledgeLength: 3, pointsLength: 4 },
  );
  const told = join(folder, "history.jsonl");
  await exportRun(connection, await ask(connection, runsShow, { run: first }), { to: "history", out: told });
  await assertReplayed(config, told);
  await ask(connection, runsDelete, { run: first });
  const second = await finished(["curriculum.sampler.from=[past.jsonl]", "seed=2"]);
  const { events } = await ask(connection, eventsQuery, { run: second });
  const chosen = events.find(({ name }) => name === "past-run-chosen");
  assert.match(chosen?.message ?? "", new RegExp(`follows the run ${first}`));
  assert.equal(chosen?.step, 2, "after 20 groups");
  const plain = await finished(["curriculum.sampler=uniform", "steps=1"]);
  await assert.rejects(
    exportRun(connection, await ask(connection, runsShow, { run: plain }), { to: "curriculum", out: file }),
    /has not recorded a curriculum that another run can follow/,
  );
  assert.notEqual(readFileSync(file, "utf8"), "", "a failed export leaves the file as it was");
});
