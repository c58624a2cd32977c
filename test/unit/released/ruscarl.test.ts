/** RuscaRL compared with the arithmetic of its released code: how much of the rubric, with which prompt a rollout trains, and what it counts against. */
import assert from "node:assert/strict";
import { rmSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { test } from "node:test";
import { Algorithm, contextOf } from "../../../server/algorithm/algorithm.ts";
import { create } from "../../../server/core/create.ts";
import { randomStream } from "../../../server/lib/random.ts";
import type { Batch } from "../../../server/core/rollouts.ts";
import type { Stats } from "../../../server/core/policy.ts";
import { batchOf, task } from "../../support/batch.ts";
import { ofKind, testRun } from "../../support/runFolder.ts";
import { configOf, near, temporary } from "../support.ts";

const text = (more = ""): string =>
  `extends: ruscarl\ntasks: [{ env: arithmetic }]\nreward: { terms: { correct: numeric } }\n${more}`;

/** As the sampler there has it: steps from 1, the fraction of the whole clamped, no fading in a run of one step. */
function released(sample: number, group: number, globalStep: number, totalSteps: number): number {
  const within = Math.max(0, (group - 1 - sample) / (group - 1));
  if (totalSteps <= 1) return within;
  const x = Math.min(1, Math.max(0, (globalStep - 1) / (totalSteps - 1)));
  return within * (1 / (1 + Math.exp((x - 0.2) * 125)));
}

test("RuscaRL: the rubric fades by the stage's own steps, however many it has and whenever it begins", () => {
  const body = configOf(text()).top;
  const amount = create(body.guidance.amount, contextOf(body, { random: randomStream(1) }));
  for (const steps of [1, 2, 30, 100, 350])
    for (const before of [0, 40])
      for (const stageStep of [0, 1, Math.floor(steps / 5), steps - 1])
        for (let member = 0; member < 8; member++) {
          const asked = amount.share({
            task: task("t"),
            member,
            members: 8,
            round: 0,
            earlier: [],
            clock: { step: before + stageStep, stageStep },
            steps,
            random: randomStream(1),
            shared: randomStream(2),
          })?.share;
          assert.ok(
            near(asked, released(member, 8, stageStep + 1, steps)),
            `${steps}, ${stageStep}, ${member}`,
          );
        }
});

test("RuscaRL: the ratio is of the bare prompt now to the bare prompt before the updates, clipped twice", () => {
  const body = configOf(text()).top;
  const help = { use: "rubric", round: 0, stripped: true };
  const batch: Batch = batchOf([
    { context: [1], tokens: [5, 6, 7], record: { source: "guided", help } },
    { context: [1], tokens: [5] },
  ]);
  // The log-probs they were generated with, from the rubric, are far from what the bare prompt says of them.
  const logp = Float64Array.of(-0.01, -0.02, -0.03, -0.5);
  const proximal = Float64Array.of(-2, -1.5, -3, -0.5);
  const old: Stats = { logp, "logp:proximal": proximal };
  const now = Float64Array.of(-1.9, -1, -1.5, -0.8);
  const advantages = Float64Array.of(1, 1, -1, -1);
  const algorithm = new Algorithm({ ...body, kl: [] }, contextOf(body, { random: randomStream(1) }));
  const clock = { step: 0, stageStep: 0 };
  const known = { tokens: advantages, rows: new Float64Array(2), exists: new Uint8Array(4).fill(1) };
  const weights = algorithm.tokenWeights(batch, known, old, clock);
  const { gradients } = algorithm.weigh({ old, advantages, weights }, clock)(
    { logp: now, entropy: new Float64Array(4) },
    batch,
  );
  // Mean over the four tokens; A > 0 is cut above 1.2, A < 0 below 0.8 and above 3.
  const slope = (t: number): number => {
    const ratio = Math.exp(now[t]! - proximal[t]!);
    const a = advantages[t]!;
    const cut = a > 0 ? ratio > 1.2 : ratio < 0.8 || ratio > 3;
    return cut ? 0 : (-a * ratio) / 4;
  };
  for (let t = 0; t < 4; t++)
    assert.ok(near(gradients.logp![t], slope(t)), `token ${t}: ${gradients.logp![t]}`);
});

const config = (tasks: string): string => `extends: ruscarl
model: { base: tiny, width: 16, layers: 1, heads: 2, hidden: 32, context: 256 }
tasks: [{ name: mine, dataset: ${JSON.stringify(tasks)}, prompt: "{question}", answer: "{answer}" }]
rollout: { prompts: 2, max_tokens: 4 }
update: { mini_batch: 8 }
reward: { terms: { correct: exact_match } }
stages: [{ name: practice, steps: 1 }]
evaluation: { every: 100, prompts: 2 }
`;

test("RuscaRL: what was generated from the rubric trains with the task's own prompt", async () => {
  const folder = temporary();
  const tasks = join(folder, "tasks.jsonl");
  const rows = ["ab", "cd", "ef", "gh", "ij", "kl", "mn", "op", "qr", "st"].map((question) =>
    JSON.stringify({ question, answer: question, rubric: ["two letters", "no spaces"] }),
  );
  writeFileSync(tasks, rows.join("\n"));
  writeFileSync(join(folder, "test.gradus.yaml"), config(tasks));
  const run = testRun([], join(folder, "test.gradus.yaml"));
  try {
    assert.equal(await run.work(), 0, run.ending());
    const trained = ofKind(run.records(), "rollout").filter(({ row }) => row.use === "train");
    assert.equal(trained.length, 16);
    const shown = trained.filter(({ row }) => row.help?.prompt?.includes("- ") === true);
    assert.ok(shown.length >= 8, `only ${shown.length} were shown a criterion`);
    for (const { row, columns } of shown) {
      assert.equal(row.help!.stripped, true);
      assert.ok(columns.logp_proximal!.every(Number.isFinite));
      assert.ok(columns.logp_proximal!.some((bare, t) => Math.abs(bare - columns.logp_old![t]!) > 1e-9));
    }
  } finally {
    run.remove();
    rmSync(folder, { recursive: true });
  }
});
