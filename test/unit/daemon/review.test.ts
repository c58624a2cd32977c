/** What a run forgot becomes a stage of its config that draws from the arms which lost it, and from no held-out task. */
import assert from "node:assert/strict";
import { mkdtempSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { test } from "node:test";
import { reviewConfig } from "../../../server/daemon/config/review.ts";
import { armsToReview } from "../../../server/daemon/config/reviewTasks.ts";
import { openSources } from "../../../server/algorithm/curriculum/openSources.ts";
import { create } from "../../../server/core/create.ts";
import { splitOf } from "../../../server/core/split.ts";
import { randomStream } from "../../../server/lib/random.ts";
import type { EvaluationRow } from "../../../shared/protocol/protocol.ts";
import type { JsonObject } from "../../../shared/lib/json.ts";
import { loadConfig } from "../../../server/rules/load.ts";
import { configOf, context } from "../support.ts";

const config = `# mine
name: sums
model: { base: tiny, width: 32, layers: 1, heads: 2, context: 48 }
tasks:
  - { env: countdown, numbers: [2, 3] } # both
  - { env: reverse_text, lengths: [2, 3], name: back }
curriculum: { arms: difficulty }
rollout: { max_tokens: 20 }
reward:
  terms:
    correct: { use: equation, weight: 1, tasks: [countdown] }
    exact: { use: exact_match, weight: 1, tasks: [back] }
  success: { terms: [correct, exact] }
`;
const stages = `stages:
  - { name: easy, steps: 8 }
  - name: full # the long one
    steps: 120
    rollout: { temperature: 0.8 }

seed: 3
`;

/** @param lost by arm, tasks that were right at first, and how many of them are not at last */
const evaluations = (
  lost: Readonly<Record<string, readonly [tasks: number, lost: number]>>,
): EvaluationRow[] => {
  const asked = Object.entries(lost).flatMap(([arm, [tasks, gone]]) =>
    Array.from({ length: tasks }, (_, i) => ({ task: `${arm}#${i}`, arm, kept: i >= gone })),
  );
  return [0, 9].map((step) => ({
    step,
    role: "periodic",
    metrics: {},
    results: {
      tasks: asked.map(({ task }) => task),
      arms: asked.map(({ arm }) => arm),
      samples: asked.map(() => 2),
      right: asked.map(() => 1),
      greedy: asked.map(({ kept }) => Number(step === 0 || kept)),
    },
  }));
};
const forgetsEasy = evaluations({
  "countdown/2": [10, 6],
  "countdown/3": [10, 1],
  "back/2": [10, 0],
  "back/3": [10, 0],
});

/** As a run's record has it. */
function resolved(text: string): JsonObject {
  const file = join(mkdtempSync(join(tmpdir(), "gradus-review-")), "a.gradus.yaml");
  writeFileSync(file, text);
  return loadConfig(file).tree;
}

const reviewed = (text: string, rows: readonly EvaluationRow[] = forgetsEasy) =>
  reviewConfig({ file: "/p/a.gradus.yaml", config: resolved(text) }, rows, text);

test("a stage after the last draws only the arms that lost most, in the style of the file", () => {
  const { text, stage, steps, arms, message } = reviewed(config + stages);
  assert.equal(
    text,
    (config + stages).replace(
      "0.8 }\n",
      `0.8 }
  - { name: review-all }
  - { name: review-forgotten, tasks: { countdown: { numbers: [2] }, back: null } }
  - { name: review, steps: 30, alternate: [{ stage: review-all, steps: 1 }, { stage: review-forgotten, steps: 1 }] }
`,
    ),
  );
  assert.deepEqual([stage, steps, arms], ["review", 30, [{ arm: "countdown/2", tasks: 10, forgotten: 6 }]]);
  assert.match(
    message,
    /30 steps: every other one draws only from the arm countdown\/2, to which 6 of 7 forgotten tasks belong/,
  );
  const again = reviewed(text).text;
  assert.match(again, /- \{ name: review-2-all \}\n {2}- .*\n {2}- \{ name: review-2, steps: 10/);
});

test("the stage is valid, draws those arms alone, and never a held-out task", () => {
  const made = configOf(reviewed(config + stages).text).stages;
  assert.deepEqual(made.at(-1)!.turns, [
    { stage: 2, steps: 1 },
    { stage: 3, steps: 1 },
  ]);
  assert.deepEqual(made[2]!.body.tasks, made[0]!.body.tasks, "its other turns draw from all");
  const { body } = made[3]!;
  const sources = openSources(body.tasks, context);
  const division = create(body.curriculum.arms, context)(sources);
  assert.deepEqual(division.families, ["countdown/2"]);
  for (let i = 0; i < 200; i++) {
    const task = division.draw(0, randomStream(2, "draw", i), { step: 0, stageStep: 0 })!;
    assert.equal(splitOf(task.id), "train");
    assert.equal(division.familyOf(task), "countdown/2");
  }
});

test("a config without stages gets its own first; a list in brackets goes on in them", () => {
  assert.match(
    reviewed(`${config}steps: 40\n`).text,
    /\nstages: \[\{ name: rl, steps: 40 \}, \{ name: review-all \}, .*\{ name: review, steps: 10, .*\] \}\]\n/,
  );
  const flow = reviewed(`${config}stages: [{ name: one, steps: 80 }] # all\n`).text;
  assert.match(flow, /stages: \[\{ name: one, steps: 80 \}, \{ name: review-all \}, .* \}\] # all\n/);
});

test("arms that lost at least their share are raised; without any, or where all lost alike, it says so", () => {
  const arm = (name: string, tasks: number, forgotten: number) => ({ arm: name, tasks, forgotten });
  assert.deepEqual(
    armsToReview([arm("a", 10, 5), arm("b", 40, 4), arm("c", 10, 1), arm("d", 10, 0)]).map((one) => one.arm),
    ["a"],
  );
  assert.throws(() => reviewed(config, evaluations({ "back/2": [4, 0] })), /forgotten no held-out task/);
  const alike = evaluations({
    "countdown/2": [4, 1],
    "countdown/3": [4, 1],
    "back/2": [4, 1],
    "back/3": [4, 1],
  });
  assert.throws(() => reviewed(config, alike), /All arms forgot the same share/);
  assert.throws(() => reviewed(config, evaluations({ all: [4, 1] })), /tasks of all cannot be drawn apart/);
  const preset = resolved(config + stages);
  const elsewhere = { file: "/p/a.gradus.yaml", config: preset };
  assert.throws(() => reviewConfig(elsewhere, forgetsEasy, config), /no list of `stages`/);
});
