/** A run's own rollouts, with that changed on which their score should depend. */
import assert from "node:assert/strict";
import { writeFileSync } from "node:fs";
import { join, resolve } from "node:path";
import { test } from "node:test";
import { AnswerScorer } from "../../../../server/analysis/rewardChecks/answers.ts";
import { probeReward } from "../../../../server/analysis/rewardChecks/probe.ts";
import { recordedAnswers } from "../../../../server/analysis/rewardChecks/recordedProbes.ts";
import { loadConfig } from "../../../../server/rules/load.ts";
import type { RolloutRow } from "../../../../shared/rollouts/rollouts.ts";
import { temporary } from "../../support.ts";

const sound = resolve("test/fixtures/rewards/holes/sound.ts");
const sums = Array.from({ length: 12 }, (_, i) => ({ a: i + 1, b: i + 25, sum: 2 * i + 26 }));

/** Two rollouts of each sum, one of them wrong. */
const rows = sums.flatMap(({ a, b, sum }): RolloutRow[] =>
  [sum, sum + 1].map((said, index) => ({
    step: 3,
    group: `g${sum}`,
    index,
    prompt: `What is ${a} + ${b}?`,
    response: `Adding ${a} to ${b} gives ${said}, and nothing is left to add.\n#### ${said}`,
    task: { env: "dataset", id: `t${sum}`, data: { answer: String(sum) } },
  })),
);

/** Kinds of changed rollouts that a reward takes for successes, or misses. */
async function found(reward: string): Promise<readonly string[]> {
  const folder = temporary();
  const data = sums.map(({ a, b, sum }) =>
    JSON.stringify({ question: `What is ${a} + ${b}?`, answer: String(sum) }),
  );
  writeFileSync(join(folder, "sums.jsonl"), data.join("\n"));
  writeFileSync(join(folder, "own.ts"), reward);
  const file = join(folder, "sums.gradus.yaml");
  const use = reward === "" ? sound : "./own.ts";
  writeFileSync(
    file,
    `tasks: [{ dataset: sums.jsonl, prompt: "{question}", answer: "{answer}" }]\nreward: { terms: { correct: ${use} } }\n`,
  );
  const { config } = loadConfig(file);
  assert.ok(config);
  const scorer = new AnswerScorer(config);
  try {
    await scorer.prepare();
    const recorded = await recordedAnswers(rows, scorer);
    const { findings } = await probeReward(config, scorer, { recorded });
    return findings.map(({ probe }) => probe).filter((probe) => probe.startsWith("recorded-"));
  } finally {
    await scorer.close();
  }
}

const own = (success: string): string =>
  `export const score = ({ response, task }) => (${success} ? 1 : 0);\n`;

test("a sound reward takes no changed rollout for a success", async () =>
  assert.deepEqual(await found(""), []));

test("an answer anywhere in the text is found by half a rollout, and in the numbers of another task", async () =>
  assert.deepEqual(await found(own("response.includes(task.answer)")), [
    "recorded-half",
    "recorded-elsewhere",
  ]));

test("a reward of the form is found by other answers and by other tasks'", async () =>
  assert.deepEqual(await found(own("/gives \\d+, and nothing is left/.test(response)")), [
    "recorded-wrong",
    "recorded-elsewhere",
  ]));

test("words of praise turn a failure into a success", async () =>
  assert.deepEqual(
    await found(own("response.endsWith(`#### ${task.answer}`) || response.includes('is correct')")),
    ["recorded-praised", "recorded-line"],
  ));
