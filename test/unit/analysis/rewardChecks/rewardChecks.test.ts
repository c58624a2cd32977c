import assert from "node:assert/strict";
import { writeFileSync } from "node:fs";
import { join, resolve } from "node:path";
import { test } from "node:test";
import { AnswerScorer, type Answer } from "../../../../server/analysis/rewardChecks/answers.ts";
import { attackReward } from "../../../../server/analysis/rewardChecks/attack.ts";
import { checkedTasks } from "../../../../server/analysis/rewardChecks/checkedTasks.ts";
import { checkGold, type GoldReport } from "../../../../server/analysis/rewardChecks/gold.ts";
import { probeReward, type ProbeFinding } from "../../../../server/analysis/rewardChecks/probe.ts";
import { traitsOf } from "../../../../server/analysis/rewardChecks/forms/traits.ts";
import {
  readRewardTests,
  runRewardTests,
  testOf,
} from "../../../../server/analysis/rewardChecks/rewardTests.ts";
import { loadConfig } from "../../../../server/rules/load.ts";
import type { RunConfig } from "../../../../server/core/config/runConfig.ts";
import type { Task } from "../../../../server/core/task.ts";
import { count, some } from "../../../support/thorough.ts";
import { temporary } from "../../support.ts";

const holes = resolve("test/fixtures/rewards/holes");

/** A config over some sums, whose answers `answer` writes. */
function configWith(reward: string, answer = (sum: number): string => String(sum)): RunConfig {
  const folder = temporary();
  const lines = Array.from({ length: 40 }, (_, i) =>
    JSON.stringify({ question: `What is ${i + 1} + ${i + 25}?`, answer: answer(2 * i + 26) }),
  );
  writeFileSync(join(folder, "sums.jsonl"), `${lines.join("\n")}\n`);
  const file = join(folder, "sums.gradus.yaml");
  writeFileSync(
    file,
    `tasks: [{ dataset: sums.jsonl, prompt: "{question}", answer: "{answer}" }]\nreward: { terms: { correct: ${reward} } }\n`,
  );
  const { config, diagnostics } = loadConfig(file);
  assert.ok(config, diagnostics.map(({ message }) => message).join("\n"));
  return config;
}

async function withScorer<Found>(
  config: RunConfig,
  ask: (scorer: AnswerScorer) => Promise<Found>,
): Promise<Found> {
  const scorer = new AnswerScorer(config);
  try {
    await scorer.prepare();
    return await ask(scorer);
  } finally {
    await scorer.close();
  }
}

const goldOf = async (config: RunConfig): Promise<Omit<GoldReport, "passing">> => {
  const report = await withScorer(config, (scorer) => checkGold(config, scorer));
  assert.ok(report);
  const { passing, ...rest } = report;
  assert.equal(passing.length, rest.passed);
  return rest;
};
const findingsOf = async (reward: string): Promise<readonly ProbeFinding[]> => {
  const config = configWith(reward);
  return (await withScorer(config, (scorer) => probeReward(config, scorer))).findings;
};

test("a hole that only several answers find is weighed by the answers that are recorded", async () => {
  const config = configWith(join(holes, "anyBox.ts"));
  const found = (responses: readonly string[]) =>
    withScorer(config, async (scorer) => {
      const [{ task }] = checkedTasks(config, scorer.body) as [{ task: Task }];
      const written = (): Answer[] => responses.map((response) => ({ task, response }));
      const { findings } = await probeReward(config, scorer, { written });
      return findings.filter(({ probe }) => probe === "hedged" || probe === "every-answer");
    });
  const severities = (findings: readonly ProbeFinding[]) => findings.map(({ severity }) => severity);
  assert.deepEqual(severities(await found([])), ["hint", "hint"]);
  assert.deepEqual(severities(await found(["\\boxed{1}"])), ["hint", "hint"]);
  const used = await found(["\\boxed{1}", "\\boxed{1} or \\boxed{2}"]);
  assert.deepEqual(severities(used), ["error", "warning"]);
  for (const { message } of used) assert.match(message, /; 1 of 2 recorded answers does this$/);
});

test("failures are counted by cause: the error's name and the line that threw", async () => {
  const folder = temporary();
  const file = join(folder, "score.ts");
  writeFileSync(
    file,
    [
      "export function score({ response }: { response: string }): number {",
      "  const last = Number(/\\d$/.exec(response)?.[0]);",
      "  if (last > 5) throw new RangeError(`too much: ${last}`);",
      "  if (last > 1) throw new TypeError(`${last}`);",
      "  if (last === 1) throw new RangeError(`odd: ${last}`);",
      "  return 1;",
      "}",
      "",
    ].join("\n"),
  );
  const config = configWith(file);
  await withScorer(config, async (scorer) => {
    const tasks = checkedTasks(config, scorer.body);
    scorer.causes.know(tasks);
    const answers = tasks.slice(0, 20).map(({ task }, i) => ({ task, response: `${i % 10}` }));
    await scorer.score(answers);
    assert.deepEqual(
      scorer.causes
        .fresh()
        .map(({ what, failed, asked, first, place }) => [what, failed, asked, first, place?.line]),
      [
        ["threw RangeError: too much: 6", 8, 20, "row 7 of sums.jsonl", 2],
        ["threw TypeError: 2", 8, 20, "row 3 of sums.jsonl", 3],
        ["threw RangeError: odd: 1", 2, 20, "row 2 of sums.jsonl", 4],
      ],
    );
    assert.deepEqual([scorer.causes.fresh(), scorer.causes.broken], [[], []]);
  });
});

/** Each reward, and the probes that must find its hole. */
const planted: Readonly<Record<string, readonly string[]>> = {
  substring: ["within", "longer", "list", "mentioned", "denied"],
  firstNumber: ["hedged"],
  notANumber: ["value-nan", "filler"],
  withinAnswer: ["form-only", "part"],
  grows: ["long-filler"],
  tags: ["form-repeated"],
  begins: ["longer"],
  anyBox: ["every-answer", "hedged"],
  thrown: ["filler", "empty"],
  atLeast: ["value-infinity", "digits"],
  keyword: ["praise"],
  partly: ["empty", "prompt"],
};

for (const [name, probes] of some(Object.entries(planted), 5))
  test(`the hole of ${name} is found`, async () => {
    const found = await findingsOf(join(holes, `${name}.ts`));
    for (const probe of probes)
      assert.ok(
        found.some((one) => one.probe === probe && one.severity !== "info"),
        `${probe} is not among ${found.map((one) => one.probe).join(", ")}`,
      );
    const [first] = found;
    assert.equal(first?.place?.file, join(holes, `${name}.ts`));
    assert.ok(first.place.line > 4, `line ${first.place.line}`);
  });

test("a sound reward of one's own, and the built-in ones, have no hole", async () => {
  for (const reward of [join(holes, "sound.ts"), "exact_match"])
    assert.deepEqual(
      (await findingsOf(reward)).map(({ probe, message }) => `${probe}: ${message}`),
      [],
      reward,
    );
  // It takes the last number, whatever is said of it.
  assert.deepEqual(
    (await findingsOf("numeric")).map(({ probe, severity }) => `${probe} ${severity}`),
    ["denied warning"],
  );
});

test("reference answers that a reward does not recognise are named with their rows, lines and cause", async () => {
  const config = configWith(join(holes, "sound.ts"));
  assert.deepEqual(await goldOf(config), {
    form: "after `####`",
    checked: 40,
    passed: 40,
    without: 0,
    value: 1,
    best: null,
    earned: { reward: 1, terms: { correct: 1 } },
    failures: [],
    traits: [],
    format: [],
  });
  const report = await goldOf(configWith("numeric", (sum) => (sum > 100 ? "unknown" : String(sum))));
  assert.equal(report.passed, 38);
  assert.deepEqual(
    report.failures.map(({ row, line, answer }) => ({ row, line, answer })),
    [
      { row: 39, line: 38, answer: "unknown" },
      { row: 40, line: 39, answer: "unknown" },
    ],
  );
  assert.deepEqual(report.traits, [{ trait: "letters", count: 2 }]);
});

test("failing answers are counted once each, under what most of them share and few others have", () => {
  assert.deepEqual(traitsOf(["1,000", "2,500", "1/2", "x"], ["1", "2", "30"]), [
    { trait: "thousands commas", count: 2 },
    { trait: "fractions", count: 1 },
    { trait: "letters", count: 1 },
  ]);
  // What the others have as well explains nothing.
  assert.deepEqual(traitsOf(["-1"], ["-2", "-3", "4"]), []);
});

test("an environment's own solutions are its reference answers", async () => {
  const folder = temporary();
  const file = join(folder, "c.gradus.yaml");
  writeFileSync(
    file,
    "tasks: [{ env: countdown, numbers: [3] }]\nreward: { terms: { correct: equation } }\n",
  );
  const { config } = loadConfig(file);
  const report = await goldOf(config!);
  assert.ok(report.checked > 30);
  assert.equal(report.passed, report.checked);
});

/** Those of the holes that open without the reference answer. */
const attackable = [
  "substring",
  "notANumber",
  "withinAnswer",
  "grows",
  "tags",
  "anyBox",
  "thrown",
  "atLeast",
  "keyword",
];

for (const name of some(attackable, 2))
  test(`the hole of ${name} is found by a policy that never sees an answer`, async () => {
    const config = configWith(join(holes, `${name}.ts`));
    const [hole, ...more] = (
      await withScorer(config, (scorer) => attackReward(config, scorer, { seconds: 120, holes: 1 }))
    ).holes;
    assert.ok(hole && hole.share >= 0.5 && more.length === 0);
    // What is found becomes a test that fails.
    const file = join(temporary(), `${name}.reward.test.jsonl`);
    writeFileSync(file, hole.examples.map((example) => testOf(example, "correct")).join("\n"));
    const tests = await readRewardTests(file);
    const results = await withScorer(config, (scorer) => runRewardTests(tests, scorer));
    assert.ok(results.length > 0 && results.every(({ failure }) => failure !== undefined));
  });

test("a sound reward withstands a policy that never sees an answer", async () => {
  const config = configWith(join(holes, "sound.ts"));
  const seconds = count(1, 60);
  const report = await withScorer(config, (scorer) => attackReward(config, scorer, { seconds }));
  assert.deepEqual(report.holes, []);
  assert.ok(report.answers > 0);
});
