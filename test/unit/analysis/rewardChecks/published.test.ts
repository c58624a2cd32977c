/** The holes of published rewards in Python, rewritten: the probe finds each of them, on its function's line. */
import assert from "node:assert/strict";
import { readdirSync, readFileSync, writeFileSync } from "node:fs";
import { basename, join, resolve } from "node:path";
import { test } from "node:test";
import { AnswerScorer } from "../../../../server/analysis/rewardChecks/answers.ts";
import { probeReward, type ProbeFinding } from "../../../../server/analysis/rewardChecks/probe.ts";
import { withoutPython } from "../../../support/pythonReward.ts";
import { some } from "../../../support/thorough.ts";
import { configOf, temporary } from "../../support.ts";

const folder = resolve("test/fixtures/rewards/published");

interface Planted {
  /** Probes that must find the hole. */
  readonly by: readonly string[];
  /** Data in which it opens; default: sums. */
  readonly rows?: (i: number) => { readonly question: string; readonly answer: string };
  readonly export?: string;
}

const sums = (i: number) => ({ question: `What is ${i + 1} + ${i + 25}?`, answer: String(2 * i + 26) });
const larger = (i: number) => ({
  question: `Which is larger, ${i} or ${3 * i + 7}?`,
  answer: String(3 * i + 7),
});

const planted: Readonly<Record<string, Planted>> = {
  first_number: { by: ["hedged"] },
  substring: { by: ["within", "longer", "list", "denied"] },
  empty_equals_empty: { by: ["empty", "filler", "wrong"] },
  any_box: { by: ["every-answer", "hedged"] },
  copied_number: { by: ["prompt"], rows: larger },
  eval_answer: { by: ["equal-expression"] },
  format_only: { by: ["form-only", "wrong"] },
  length_credit: { by: ["long-filler"] },
  prompt_example: {
    by: ["empty", "filler"],
    rows: (i) => ({ ...sums(i), question: `${sums(i).question} Write e.g. <answer>7</answer>.` }),
    export: "reward_func",
  },
  lost_sign: { by: ["negated"] },
  starts_with: { by: ["longer"] },
  within_truth: { by: ["part", "form-only"] },
  missing_marker: { by: ["list"] },
  partial_list: {
    by: ["list"],
    rows: (i) => ({ question: `The next two after ${i}?`, answer: `${i + 1}, ${i + 2}` }),
  },
  parse_exception: { by: ["brackets", "value-none"] },
  except_one: { by: ["empty", "wrong"] },
  exit_zero: { by: ["exit"] },
  printed_verdict: { by: ["printed-verdict"] },
  equals_anything: { by: ["always-equal"] },
  not_a_number: { by: ["value-nan"] },
  any_choice: {
    by: ["list"],
    rows: (i) => ({ question: `Which of A to D? (${i})`, answer: "ABCD".charAt(i % 4) }),
  },
};

async function probed(name: string): Promise<readonly ProbeFinding[]> {
  const { rows = sums, export: called = "compute_score" } = planted[name] ?? {};
  const data = temporary();
  const lines = Array.from({ length: 24 }, (_, i) => JSON.stringify(rows(i)));
  writeFileSync(join(data, "rows.jsonl"), `${lines.join("\n")}\n`);
  const config = configOf(
    `tasks: [{ dataset: rows.jsonl, prompt: "{question}", answer: "{answer}" }]
reward: { terms: { correct: { use: "${join(folder, name)}.py:${called}", timeout: 20 } } }
`,
    data,
  );
  const scorer = new AnswerScorer(config);
  try {
    await scorer.prepare();
    return (await probeReward(config, scorer)).findings;
  } finally {
    await scorer.close();
  }
}

test("every file of the folder is tried", () => {
  const files = readdirSync(folder).filter((name) => name.endsWith(".py"));
  assert.deepEqual(
    files.map((name) => basename(name, ".py")),
    [...Object.keys(planted), "sound"].sort(),
  );
});

for (const [name, { by, export: called = "compute_score" }] of some(Object.entries(planted), 6))
  test(`the hole of ${name}.py is found`, { skip: withoutPython }, async () => {
    const found = await probed(name);
    for (const probe of by)
      assert.ok(
        found.some((one) => one.probe === probe && one.severity !== "info"),
        `${probe} is not among ${found.map((one) => `${one.probe} (${one.message})`).join(", ")}`,
      );
    const file = join(folder, `${name}.py`);
    const line = readFileSync(file, "utf8")
      .split("\n")
      .findIndex((text) => text.startsWith(`def ${called}`));
    assert.deepEqual(found[0]?.place, { file, line });
  });

test("a sound reward in Python has no hole", { skip: withoutPython }, async () =>
  assert.deepEqual(
    (await probed("sound")).map(({ probe, message }) => `${probe}: ${message}`),
    [],
  ),
);
