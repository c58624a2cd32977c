/** The service draws what an embedded run has drawn, where it is told the run's own outcomes. */
import assert from "node:assert/strict";
import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { test } from "node:test";
import {
  admittedOf,
  curriculumMetrics,
  groupsOf,
  rounded,
  type RunGroup,
} from "../../../support/embeddedGroups.ts";
import { tinyRun } from "../../../support/replayedRun.ts";
import { ofKind, testRun } from "../../../support/runFolder.ts";
import { decisionsOf, projectOf, startService, type Reply } from "../../../support/service.ts";
import { some } from "../../../support/thorough.ts";

const lengths = "tasks: [{ env: reverse_text, lengths: [2, 3, 4] }]\n";
const two = "tasks: [{ env: reverse_text, lengths: [2, 3] }, { name: sums, env: arithmetic }]\n";

const curricula: Readonly<Record<string, string>> = {
  boltzmann: `${lengths}steps: 6\ncurriculum: { estimator: { use: ema, alpha: 0.5 }, sampler: { use: boltzmann, temperature: 0.05 } }\n`,
  thompson: `${two}steps: 6\ncurriculum: { signal: success_rate, estimator: beta, sampler: thompson }\n`,
  "success band": `${lengths}steps: 6\ncurriculum: { admission: { use: success_band, low: 0.2, high: 0.8 }, sampler: boltzmann }\n`,
  staged: `${lengths}stages:
  - { name: easy, steps: 4, tasks: { reverse_text: { lengths: [2] } }, until: { metric: reward/right, above: 0, window: 2 } }
  - { name: wide, steps: 4, crossfade: { over: 3 }, on_enter: { carry_over: { share: 0.4, below: 1 } } }
`,
  "prioritized prompts": `${lengths}steps: 6\ncurriculum: { arms: { use: prompt, pool: 12 }, signal: failure_ratio, estimator: last, sampler: { use: proportional } }\n`,
  uniform: `${two}steps: 6\ncurriculum: { sampler: uniform }\n`,
  "moving average": `${lengths}steps: 6\nadvantage: { baseline: moving_average, scale: none }\ncurriculum: { sampler: { use: boltzmann, temperature: 0.1 } }\n`,
};

const reported = ({ id, rows }: RunGroup, terms: readonly string[]): object => ({
  task: id,
  rewards: Object.fromEntries(
    terms.map((term) => [term, rows.map(({ row }) => row.rewards?.[term] ?? null)]),
  ),
  lengths: rows.map(({ columns }) => columns["tokens"]?.length ?? 0),
});

for (const [name, text] of some(Object.entries(curricula), 4))
  test(`${name}: the same outcomes, the same draws, estimates and stages`, async () => {
    const folder = mkdtempSync(join(tmpdir(), "gradus-embedded-"));
    const file = join(folder, "a.gradus.yaml");
    const config = `${tinyRun}${text}`;
    writeFileSync(file, config);
    const run = testRun([], file);
    const project = projectOf(config);
    const service = await startService(project);
    try {
      assert.equal(await run.work(), 0, run.ending());
      const records = run.records();
      const steps = groupsOf(records);
      assert.ok(steps.length >= 5, `${steps.length} steps`);
      const stages = ofKind(records, "stage");
      for (const [step, groups] of steps.entries()) {
        const [status, drawn] = await service.ask("/draw", { step });
        assert.equal(status, 200, JSON.stringify(drawn));
        const tasks = drawn["tasks"] as Reply[];
        assert.deepEqual(
          tasks.map(({ id, task }) => [id, task]),
          groups.map(({ id, task }) => [id, task]),
          `step ${step}`,
        );
        const stage = stages.findLast((one) => one.step <= step)?.name;
        const body = { step, groups: groups.map((group) => reported(group, ["right"])) };
        const [, decision] = await service.ask("/observe", body);
        assert.equal(decision["stage"], stage, JSON.stringify(decision));
        const logged = curriculumMetrics(records, step);
        assert.deepEqual(rounded(decision["metrics"] as object), rounded(logged), `step ${step}`);
        assert.deepEqual(decision["admitted"], admittedOf(groups), `step ${step}`);
      }
      assert.deepEqual(
        decisionsOf(project).map(({ step }) => step),
        steps.map((_, step) => step),
      );
    } finally {
      await service.end();
      run.remove();
      for (const one of [folder, project]) rmSync(one, { recursive: true, force: true });
    }
  });
