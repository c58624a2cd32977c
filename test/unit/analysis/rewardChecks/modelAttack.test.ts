/** The attack by a served model: a real server, whose model writes better texts once it has seen what scored. */
import assert from "node:assert/strict";
import { writeFileSync } from "node:fs";
import { join, resolve } from "node:path";
import { test } from "node:test";
import { AnswerScorer } from "../../../../server/analysis/rewardChecks/answers.ts";
import type { AttackReport } from "../../../../server/analysis/rewardChecks/attackTasks.ts";
import { attackWithModel } from "../../../../server/analysis/rewardChecks/modelAttack.ts";
import { chatServer, type ChatServer } from "../../../support/chatServer.ts";
import { withoutPython } from "../../../support/pythonReward.ts";
import { configOf, temporary } from "../../support.ts";

const skip = withoutPython;

/** @param reward of the folder of published ones */
async function attacked(
  reward: string,
  answer: Parameters<typeof chatServer>[0],
  tries = 40,
): Promise<{ readonly report: AttackReport; readonly asked: ChatServer["asked"] }> {
  const server = await chatServer(answer);
  const folder = temporary();
  const rows = Array.from({ length: 24 }, (_, i) => ({
    question: `${i} + ${i + 1}?`,
    answer: String(2 * i + 1),
  }));
  writeFileSync(join(folder, "rows.jsonl"), rows.map((row) => JSON.stringify(row)).join("\n"));
  const file = resolve(`test/fixtures/rewards/published/${reward}.py`);
  const config = configOf(
    `tasks: [{ dataset: rows.jsonl, prompt: "{question}", answer: "{answer}" }]
reward: { terms: { correct: { use: "${file}", timeout: 20 } } }
`,
    folder,
  );
  const scorer = new AnswerScorer(config);
  try {
    await scorer.prepare();
    const report = await attackWithModel(config, scorer, { url: server.url, seconds: 60, tries });
    return { report, asked: server.asked };
  } finally {
    await scorer.close();
    await server.close();
  }
}

const everyNumber = Array.from({ length: 60 }, (_, i) => i).join(" ");

test("a text that succeeds on tasks which the model has not seen is a hole", { skip }, async () => {
  const { report, asked } = await attacked("substring", (text, times) =>
    text.includes("reward 0.")
      ? `<think>Of all of them some are right.</think><attempt>${everyNumber} ${times}</attempt>`
      : `<attempt>1 of {prompt}</attempt><attempt>${times}</attempt>`,
  );
  const [hole] = report.holes;
  assert.ok(hole !== undefined && hole.share === 1 && hole.reward === 1);
  assert.match(hole.pieces[0] ?? "", /^"0 1 2 3 /);
  assert.equal(hole.examples.length, 3);
  assert.ok(report.answers > 24);
  const [first] = asked;
  assert.match(first?.text ?? "", /<question>\d+ \+ \d+\?<\/question>.*Nothing has been tried yet/s);
  assert.match(first?.text ?? "", /def compute_score\(solution_str, ground_truth\)/);
  // The answers themselves stay hidden.
  assert.ok(asked.every(({ text }) => !/"answer"|ground_truth": "/.test(text)));
  const { n, max_tokens, temperature } = first?.body ?? {};
  assert.deepEqual([n, max_tokens, temperature], [4, 1024, 1]);
});

test(
  "a sound reward has none: the attack ends by its count, or where the model repeats itself",
  { skip },
  async () => {
    const counted = await attacked("sound", (_, times) => `<attempt>#### ${1000 + times}</attempt>`, 6);
    assert.deepEqual(counted.report.holes, []);
    assert.ok(counted.report.answers >= 6 * 8, String(counted.report.answers));
    const repeated = await attacked("sound", () => "the same");
    assert.equal(repeated.report.answers, 8);
  },
);

test("a server that refuses is named", { skip }, () =>
  assert.rejects(
    attacked("sound", () => 500),
    /The endpoint at http:\/\/127\.0\.0\.1:\d+\/v1\/chat\/completions did not answer: 500/,
  ),
);
