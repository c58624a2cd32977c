import assert from "node:assert/strict";
import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { after, before, test } from "node:test";
import { chatServer } from "../../support/chatServer.ts";
import { gradus } from "../../support/cli.ts";

let folder = "";
before(() => {
  folder = mkdtempSync(join(tmpdir(), "gradus-reward-"));
  writeFileSync(
    join(folder, "c.gradus.yaml"),
    "tasks: [{ env: countdown }]\nreward: { terms: { correct: equation, tidy: { use: format, pattern: '[0-9+]+', weight: 0.5 } } }\n",
  );
  const row = (group: string, index: number, response: string, correct: number, tidy: number): string =>
    JSON.stringify({
      step: 0,
      group,
      index,
      task: { env: "countdown", data: { numbers: [1, 2], target: 3 } },
      prompt: "1 2=3:",
      response,
      rewards: { correct, tidy },
      reward: correct + 0.5 * tidy,
    });
  // Group a: right and wrong change places. Group b: all alike before, not now. Group c: the other way round.
  const rows = [
    row("a", 0, "1+2", 0, 0),
    row("a", 1, "no", 1, 0),
    row("b", 0, "1+2", 0, 0),
    row("b", 1, "no", 0, 0),
    row("c", 0, "no", 1, 1),
    row("c", 1, "no", 0, 0),
  ];
  writeFileSync(join(folder, "r.jsonl"), `${rows.join("\n")}\n`);
});
after(() => rmSync(folder, { recursive: true, force: true }));

test("gradus reward ends with what changed, as text and as the last JSON object", async () => {
  const text = (await gradus(["reward", "c.gradus.yaml", "--rollouts", "r.jsonl"], folder)).stdout;
  assert.equal(
    text.slice(text.indexOf("\n\n") + 2),
    [
      "6 rollouts in 3 groups, means recorded → now",
      "  reward: 0.41667 → 0.5 (+0.083333); 4 changed, 2 sign flips, 0 failed",
      "  correct: 0.33333 → 0.33333 (+0); 4 changed, 0 failed",
      "  tidy: 0.16667 → 0.33333 (+0.16667); 3 changed, 0 failed",
      "  groups whose rewards differ now but did not before (signal gained): 1 (0/b)",
      "  groups whose rewards differed before but do not now (signal lost): 1 (0/c)",
      "  successes ranked above failures: 2 of 6 rollouts succeed by `correct`; 2 pairs within groups",
      "             within groups  tied  over all",
      "    reward   25 %           50 %  25 %",
      "    correct  25 %           50 %  25 %      decides what succeeds",
      "    tidy     25 %           50 %  25 %",
      "",
    ].join("\n"),
  );
  const json = (await gradus(["reward", "c.gradus.yaml", "--rollouts", "r.jsonl", "--json"], folder)).stdout;
  const lines = json
    .trim()
    .split("\n")
    .map((line) => JSON.parse(line));
  assert.deepEqual(
    lines.map(({ type }) => type),
    [...Array.from({ length: 6 }, () => "rollout"), "summary"],
  );
  assert.deepEqual(lines.at(-1).total, {
    ...{ mean: 0.5, before: 2.5 / 6, changed: 4, errors: 0, flips: 2 },
    compared: { rollouts: 6, before: 2.5 / 6, mean: 0.5, changed: 4, gained: 0, lost: 0 },
    unrecorded: { count: 0, nan: 0, first: [] },
  });
  assert.deepEqual(lines.at(-1).groups, { total: 3, gained: ["0/b"], lost: ["0/c"] });
});

const sums = (): string => {
  const project = mkdtempSync(join(tmpdir(), "gradus-sums-"));
  writeFileSync(
    join(project, "s.gradus.yaml"),
    'tasks: [{ dataset: s.jsonl, prompt: "{q}", answer: "{a}" }]\nreward: { terms: { score: { use: ./score.ts } } }\n',
  );
  writeFileSync(
    join(project, "score.ts"),
    [
      "// The first line is a comment.",
      "export function score({ response, task }: { response: string; task: { answer?: string } }): number {",
      '  if (response === "") return 0.1;',
      '  return response.split("####").at(-1)?.trim() === task.answer?.replaceAll(",", "") ? 1 : 0;',
      "}",
      "",
    ].join("\n"),
  );
  const rows = ["3", "4", "1,005"].map((a, i) => JSON.stringify({ q: `What comes after ${i}?`, a }));
  writeFileSync(join(project, "s.jsonl"), `${rows.join("\n")}\n`);
  writeFileSync(
    join(project, "score.reward.test.jsonl"),
    [
      { response: "#### 4", task: { data: { answer: "4" } }, expect: { term: "score", at_least: 1 } },
      { response: "", task: { data: { answer: "4" } }, expect: { term: "score", at_most: 0 } },
      { response: "#### 4", task: { data: { answer: "4" } }, expect: { beats: "#### 5" } },
    ]
      .map((line) => JSON.stringify(line))
      .join("\n"),
  );
  return project;
};

test("gradus reward --gold and validate say which tests run in the program's own process, and what to write", async () => {
  const project = mkdtempSync(join(tmpdir(), "gradus-own-process-"));
  writeFileSync(
    join(project, "c.gradus.yaml"),
    'tasks: [{ dataset: c.jsonl, prompt: "{q}", solution: "{s}" }]\nreward: { terms: { tests: { use: unit_tests } } }\n',
  );
  const rows = [
    { q: "add", s: "def add(a, b): return a + b", tests: ["assert add(1, 2) == 3"] },
    {
      q: "each",
      s: "def each(f): return list(map(f, 'ab'))",
      tests: ["assert each(iter('xy').__class__) == []"],
    },
    { q: "twice", s: "def twice(f, x): return f(f(x))", tests: ["assert twice(lambda x: x + 1, 1) == 3"] },
  ];
  writeFileSync(join(project, "c.jsonl"), `${rows.map((row) => JSON.stringify(row)).join("\n")}\n`);
  const { stdout, stderr } = await gradus(["reward", "c.gradus.yaml", "--gold"], project);
  assert.match(stdout, /^2 of 3 gold answers score 1/);
  assert.match(
    stderr,
    /^c\.jsonl:2:1: warning: 2 of 3 tasks have tests that run in the program's own process, .*\(graded by the program's own process: it gives the program a class of its own\)\. Write such a test as a call .* `test_setup_code`\. \[own-process\]$/m,
  );
  const json = await gradus(["reward", "c.gradus.yaml", "--gold", "--json"], project);
  const { ownProcess } = JSON.parse(json.stdout.trim().split("\n").at(-1)!);
  assert.deepEqual([ownProcess.tasks, ownProcess.first.row], [2, 2]);
  const checked = await gradus(["validate", "c.gradus.yaml"], project);
  assert.match(
    checked.stderr,
    /^c\.gradus\.yaml:2:34: info: 1 of the first 3 lines of `c\.jsonl` has tests that run in the program's own process/m,
  );
});

test("gradus reward --gold names the rows whose reference answer fails, --probe the line that rewards nothing", async () => {
  const project = sums();
  const { stdout, stderr, code } = await gradus(["reward", "s.gradus.yaml", "--gold", "--probe"], project);
  assert.equal(code, 0, stderr);
  assert.match(
    stdout,
    /^2 of 3 gold answers score 1 \(written as it is\); 1 do not \(1 with thousands commas\): rows 3\n/,
  );
  assert.match(
    stderr,
    /^s\.jsonl:3:1: warning: the reference answer "1,005" does not succeed: score 0 \[gold-answer\]$/m,
  );
  assert.match(stderr, /^score\.ts:3:1: warning: `score`: The empty answer scores 0\.1 \[probe-empty\]$/m);
  const json = await gradus(["reward", "s.gradus.yaml", "--gold", "--json"], project);
  const lines = json.stdout.trim().split("\n");
  assert.deepEqual(
    lines.map((line) => JSON.parse(line).type),
    ["gold", "gold-summary"],
  );
  rmSync(project, { recursive: true });
});

test("gradus reward --coverage prints what rollouts reach of a reward, and what none of them does", async () => {
  const project = sums();
  const rows = ["#### 4", "#### 5"].map((response, index) =>
    JSON.stringify({ step: 3, group: "a", index, task: { env: "s", data: { answer: "4" } }, response }),
  );
  writeFileSync(join(project, "r.jsonl"), `${rows.join("\n")}\n`);
  const words = ["reward", "s.gradus.yaml", "--rollouts", "r.jsonl", "--coverage"];
  const { stdout, stderr, code } = await gradus(words, project);
  assert.equal(code, 0, stderr);
  assert.equal(
    stdout,
    [
      "score.ts: 2 of 2 lines, 3 of 4 branches over 2 rollouts",
      'score.ts:3: `if` never true: if (response === "") return 0.1;',
      "",
    ].join("\n"),
  );
  const json = (await gradus([...words, "--json"], project)).stdout.trim().split("\n");
  const [file, summary] = json.map((line) => JSON.parse(line));
  assert.deepEqual(file.lines, [
    { line: 2, rollouts: 2 },
    { line: 3, rollouts: 2 },
  ]);
  assert.deepEqual(file.branches[0], { line: 2, character: 2, kind: "if", exit: "then", rollouts: 0 });
  assert.deepEqual(summary, { type: "coverage-summary", rollouts: 2, files: 1, notes: [] });
  rmSync(project, { recursive: true });
});

test("gradus reward tries what needs nothing but the file when nothing is named", async () => {
  const project = sums();
  const [bare, both] = await Promise.all(
    [[], ["--gold", "--probe"]].map((words) => gradus(["reward", "s.gradus.yaml", ...words], project)),
  );
  assert.match(bare?.stdout ?? "", /^2 of 3 gold answers score 1 /);
  assert.deepEqual(bare, both);
});

test("gradus test runs the tests of rewards with the nearest config that has their terms", async () => {
  const project = sums();
  const { stdout, stderr, code } = await gradus(["test"], project);
  assert.equal(code, 1);
  assert.equal(stdout, "2 passed, 1 failed\n");
  assert.equal(stderr, "score.reward.test.jsonl:2:1: error: `score` is 0.1, above 0 [reward-test]\n");
  writeFileSync(join(project, "score.reward.test.jsonl"), '{"response": "", "expect": {"at_leest": 1}}\n');
  const wrong = await gradus(["test"], project);
  assert.equal(wrong.code, 1);
  assert.match(wrong.stderr, /score\.reward\.test\.jsonl:1:1: error: `expect`: Unrecognized key: "at_leest"/);
  rmSync(project, { recursive: true });
});

test("gradus reward --attack --endpoint attacks by a served model", async () => {
  const project = sums();
  writeFileSync(
    join(project, "score.ts"),
    'export const score = ({ response }: { response: string }): number => (response.includes("QED") ? 1 : 0);\n',
  );
  rmSync(join(project, "score.reward.test.jsonl"));
  const server = await chatServer((_, times, model) =>
    model === "mine" ? `<attempt>QED ${times}</attempt>` : 404,
  );
  try {
    const words = ["reward", "s.gradus.yaml", "--attack", "--endpoint", server.url, "--model", "mine"];
    const { stdout, stderr, code } = await gradus([...words, "--tries", "2"], project);
    assert.equal(code, 1);
    assert.match(
      stderr,
      /^score\.ts:1:1: error: .* succeeds on 100 % of the tasks, reward 1: "QED \d" \[attack\]$/m,
    );
    assert.match(
      stdout,
      /^2 holes [^]*^score\.reward\.test\.jsonl has a failing test of each: gradus test$/m,
    );
    assert.equal((await gradus(["test"], project)).code, 1);
  } finally {
    await server.close();
  }
  const alone = await gradus(["reward", "s.gradus.yaml", "--gold", "--endpoint", server.url], project);
  assert.deepEqual([alone.code, alone.stderr.includes("--endpoint needs --attack")], [2, true]);
  rmSync(project, { recursive: true });
});

test("gradus reward --attack writes what it finds as failing tests, each once", async () => {
  const project = sums();
  writeFileSync(
    join(project, "score.ts"),
    'export const score = ({ response }: { response: string }): number => (response.includes("proved") ? 1 : 0);\n',
  );
  rmSync(join(project, "score.reward.test.jsonl"));
  const words = ["reward", "s.gradus.yaml", "--attack", "--seconds", "1"];
  const { stdout, stderr, code } = await gradus(words, project);
  assert.equal(code, 1);
  assert.match(
    stderr,
    /^score\.ts:1:1: error: an answer that knows nothing of the reference succeeds on 100 % of the tasks, reward 1: "proved" \[attack\]$/m,
  );
  assert.match(stdout, /^\d hole[^]*^score\.reward\.test\.jsonl has a failing test of each: gradus test$/m);
  const again = await gradus(words, project);
  assert.doesNotMatch(again.stdout, /has a failing test/);
  const tested = await gradus(["test"], project);
  assert.equal(tested.code, 1);
  assert.match(tested.stdout, /^0 passed, \d+ failed$/m);
  assert.match(
    tested.stderr,
    /^score\.reward\.test\.jsonl:1:1: error: `score` is 1, above 0 \[reward-test\]$/m,
  );
  rmSync(project, { recursive: true });
});

test("gradus reward tries the rows that a script makes, or says in one line why they cannot be made", async () => {
  const own = mkdtempSync(join(tmpdir(), "gradus-reward-rows-"));
  writeFileSync(join(own, "rows.jsonl"), '{"question": "1+1", "answer": "so #### 2"}\n'.repeat(3));
  const script = (rows: string): string =>
    `from datasets import load_dataset
from transformers import AutoModelForCausalLM
from trl import GRPOConfig, GRPOTrainer

def brief(completions, **kwargs):
    return [0.1 if len(c[0]["content"]) < 9 else 0.0 for c in completions]

def right(completions, answer, **kwargs):
    return [1.0 if c[0]["content"].strip() == a else 0.0 for c, a in zip(completions, answer)]

model = AutoModelForCausalLM.from_pretrained("a/b")
rows = load_dataset("json", data_files="rows.jsonl", split="train")
${rows}
GRPOTrainer(model=model, reward_funcs=[brief, right], args=GRPOConfig(output_dir="out"), train_dataset=rows).train()
`;
  const made = `rows = rows.map(lambda x: {"prompt": [{"role": "user", "content": x["question"]}], "answer": x["answer"].split("#### ")[1]})`;
  writeFileSync(join(own, "train.py"), script(made));
  const tried = await gradus(["reward", "train.py", "--gold"], own);
  assert.match(tried.stdout, /^3 of 3 gold answers score 1 \(written as it is\)$/m, tried.stderr);
  assert.doesNotMatch(tried.stderr, /warning|rows\.jsonl|not tried/);
  writeFileSync(join(own, "train.py"), script("rows = rows.map(lambda x: model.generate(x))"));
  const { code, stdout, stderr } = await gradus(["reward", "train.py", "--gold", "--probe"], own);
  assert.deepEqual([code, stdout], [1, ""]);
  assert.match(
    stderr,
    /^train\.py: The reward was not tried: .* \(`\.map`\) .* cannot be made: train\.py:\d+ needs a model\. Save the changed rows/m,
  );
  assert.doesNotMatch(stderr, /gold|warning|rows\.jsonl/);
  const json = await gradus(["reward", "train.py", "--gold", "--json"], own);
  assert.equal(JSON.parse(json.stdout).type, "note");
  rmSync(own, { recursive: true });
});

test("gradus reward is not kept from a reward by what is wrong with an update", async () => {
  const own = mkdtempSync(join(tmpdir(), "gradus-reward-update-"));
  const config = (more: string): string =>
    `tasks: [{ env: countdown }]\nreward: { terms: { correct: ${more} } }\nrollout: { prompts: 8, group: 8 }\nupdate: { mini_batch: 20 }\n`;
  writeFileSync(join(own, "c.gradus.yaml"), config("equation"));
  assert.match((await gradus(["validate", "c.gradus.yaml"], own)).stderr, /error: `update\.mini_batch` 20/);
  const asked = await gradus(["reward", "c.gradus.yaml", "--gold"], own);
  assert.doesNotMatch(asked.stderr, /mini_batch/);
  assert.match(`${asked.stdout}${asked.stderr}`, /gold answers|reference answer/);
  writeFileSync(join(own, "c.gradus.yaml"), config("equatoin"));
  const wrong = await gradus(["reward", "c.gradus.yaml", "--gold"], own);
  assert.deepEqual([wrong.code, wrong.stdout], [1, ""]);
  assert.match(wrong.stderr, /error: /);
  rmSync(own, { recursive: true });
});
