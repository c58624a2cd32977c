import assert from "node:assert/strict";
import { test } from "node:test";
import { Findings } from "../../../extension/features/rescore/findings.ts";
import {
  changedText,
  definedLine,
  exportLine,
  goldText,
  isTrainerText,
  notebookText,
  pythonLine,
  sweepTable,
} from "../../../extension/features/rescore/document.ts";
import type { Rescored, Sweep } from "../../../shared/rollouts/rescore.ts";
import {
  changeLabel,
  changeText,
  overLabel,
  sweepText,
  termLabel,
} from "../../../shared/rollouts/rescoreText.ts";

const rescored: Rescored = {
  run: "one",
  name: "seen",
  from: 30,
  to: 33,
  steps: 4,
  of: 24,
  change: {
    rollouts: 64,
    groups: 16,
    mean: { before: 0.25, now: 0.5 },
    rankFlips: 7,
    pairs: 96,
    signFlips: 1,
    signed: 64,
    gained: 3,
    lost: 1,
    terms: [
      { term: "format", before: 0.5, now: 1, changed: 32, errors: 0 },
      { term: "style", before: 0.5, now: null, changed: 64, errors: 64 },
      { term: "correct", before: 0, now: 0, changed: 0, errors: 0 },
    ],
  },
  most: [
    {
      step: 33,
      group: "task-1",
      index: 2,
      arm: "countdown/3",
      prompt: "3 4=7:",
      response: "3+4\n`x`",
      reward: { before: 0, now: 1 },
      advantage: { before: -1.5, now: 1.5 },
      terms: [{ term: "format", before: 0, now: 1 }],
      errors: { style: "threw Error: no" },
    },
  ],
  notes: ["`mine` keeps its recorded values: it is Python."],
  milliseconds: 12,
};

test("one line says what a person decides by", () => {
  assert.equal(changeLabel(rescored), "reward 0.250 → 0.500 · 7 ranks, 1 sign flipped · +3 −1 groups");
  assert.equal(termLabel(rescored, "format"), "format 0.500 → 1 (+0.500)");
  assert.equal(termLabel(rescored, "style"), "style 0.500 → –, 64 errors");
  assert.equal(termLabel(rescored, "correct"), undefined);
});

test("the hover has the terms, the counts and the rollouts, and no mark-up of a response", () => {
  const text = changeText(rescored);
  assert.match(text, /seen, run one, steps 30 to 33 \(4 of 24 with rollouts\), 64 rollouts/);
  assert.equal(overLabel(rescored), "64 rollouts of seen, steps 30 to 33");
  assert.match(text, /\| `format` \| 0\.500 \| 1 \|/);
  assert.match(text, /\| `style` \| 0\.500 \| – \| 64 errors \|/);
  assert.match(text, /7 of 96 pairs of siblings swap ranks \(7\.3 %\)/);
  assert.match(text, /- 33\/task-1#2: advantage −1\.50 → 1\.50, reward 0 → 1 `3\+4 ˋxˋ`/);
  assert.match(text, /keeps its recorded values/);
});

test("both sides of the diff have the same lines but for what changes", () => {
  const [before, now] = [
    changedText(rescored, "before").split("\n"),
    changedText(rescored, "now").split("\n"),
  ];
  const same = before.filter((line) => now.includes(line));
  assert.ok(same.includes("■ step 33 · task-1 #2 · countdown/3") && same.includes("  │ 3+4"));
  assert.ok(before.includes("  advantage  −1.50") && now.includes("  advantage  1.50"));
  assert.ok(now.includes("    style failed: threw Error: no"));
  assert.match(changedText(null, "now"), /No run of this config/);
});

test("a sweep is a row a weight, with the present one marked", () => {
  const point = (weight: number, share: number, signFlips: number) => ({
    weight,
    share,
    signFlips,
    rankFlips: 0,
    gained: 0,
    lost: 0,
  });
  const sweep: Sweep = {
    run: "one",
    term: "format",
    weight: 0.5,
    points: [point(0, 0, 8), point(0.5, 0.4, 0), point(1, 0.6, 4)],
    rollouts: 64,
    signed: 64,
    pairs: 96,
    from: 30,
    to: 33,
    steps: 4,
    of: 24,
    notes: [],
    picture: "<svg/>",
  };
  const rows = sweepTable(sweep, "format").split("\n");
  assert.equal(rows.filter((row) => row.startsWith("▶    0.500")).length, 1);
  assert.match(rows.join("\n"), /signs flipped {8}█▁▅/);
  assert.match(sweepText(sweep, true), /!\[weight of format\]\(data:image\/svg\+xml;base64,PHN2Zy8\+\)/);
  assert.ok(!sweepText(sweep, false).includes("!["));
  assert.match(sweepTable(null, "format"), /No run of this config/);
  assert.match(rows[0] ?? "", /64 rollouts of run one, 4 of 24 steps, spread over steps 30 to 33$/);
  assert.match(
    sweepText(sweep, false),
    /64 rollouts of run one, 4 of 24 steps, spread over steps 30 to 33$/m,
  );
  const still = { ...sweep, points: [point(0, 0, 0), point(1, 0, 0)] };
  assert.match(
    sweepText(still, false),
    /It gives all rollouts of a group the same value in the 4 steps sampled, so its weight changes no/,
  );
  assert.match(sweepText({ ...still, steps: 24 }, false), /the same value in all steps, so its weight/);
});

test("a Python function's result is shown on the line of the one that the config names", () => {
  const text =
    "import re\n\ndef compute_score(solution_str):\n    pass\n\nasync def other(completions):\n    pass\nmade = get(1)\n";
  const line = (use: string): number | undefined =>
    pythonLine(text, "reward.py", `terms: { a: { use: ${use} } }`);
  assert.deepEqual(["./reward.py", "reward.py:other", '"./reward.py:made"', "./reward.py:absent"].map(line), [
    2,
    5,
    7,
    undefined,
  ]);
});

test("a trainer's configuration names the function of a Python reward", () => {
  const text = "def helper():\n    pass\n\ndef compute_score(a):\n    pass\n\ndef graded(b):\n    pass\n";
  for (const [config, line] of [
    ["  reward.custom_reward_function.path=reward.py reward.custom_reward_function.name=graded \\\n", 6],
    ["  custom_reward_function.path=reward.py\n", 3],
    ["reward:\n  custom_reward_function:\n    path: reward.py\n    name: graded\n", 6],
    ["GRPOTrainer(model, reward_funcs=[graded, other])\n", 6],
    ["--remote_rm_url reward.py\n", 3],
  ] as const) {
    assert.ok(isTrainerText(config), config);
    assert.equal(pythonLine(text, "reward.py", config), line, config);
  }
  assert.ok(!isTrainerText("from reward import compute_score\n"));
});

test("a reward's hint is at the end of the line that exports it", () => {
  assert.equal(exportLine("import a from 'b';\n\nexport function score() {}\n"), 2);
  assert.equal(exportLine("export const score = () => 1;"), 0);
  assert.equal(exportLine("export default async function (x) {}"), 0);
  assert.equal(exportLine("export type A = 1;\nfunction score() {}"), undefined);
});

test("a function's line is found by its name, and a notebook is written as its file would be", () => {
  const lines = (text: string, name = "score"): number | undefined => definedLine(text, name);
  assert.equal(lines("import re\nasync def score(x):\n"), 1);
  assert.equal(lines("scores = 1\nscore = partial(f)\n"), 1);
  assert.equal(lines("export default async function score(x) {}"), 0);
  assert.equal(lines("export const score = () => 1;"), 0);
  assert.equal(lines("def score_all(x):\n  score == 1\nscore == 2"), undefined);
  assert.equal(lines("export function $score() {}", "$score"), 0);
  assert.equal(goldText({ rewarded: 0, of: 64 }), "gold 0 of 64");
  const { cells } = JSON.parse(
    notebookText([
      { kind: 1, text: "# About" },
      { kind: 2, text: "x = 1\ny = 2" },
    ]),
  );
  assert.deepEqual(
    cells.map((cell: { cell_type: string; source: string }) => [cell.cell_type, cell.source]),
    [
      ["markdown", "# About"],
      ["code", "x = 1\ny = 2"],
    ],
  );
});

test("what the checks of several configs find is kept by config and shown by file, each once", () => {
  const findings = new Findings();
  const at = (file: string, line: number, check: "probe" | "run" = "probe") =>
    ({ file, line, severity: "warning", check, message: `${check} ${line}` }) as const;
  findings.set("a", [at("reward.py", 7), at("data.jsonl", 2)], false);
  findings.set("b", [at("reward.py", 7), at("reward.py", 9)], false);
  const shown = (): unknown =>
    Object.fromEntries([...findings.byFile].map(([file, own]) => [file, own.map(({ message }) => message)]));
  assert.deepEqual(shown(), { "reward.py": ["probe 7", "probe 9"], "data.jsonl": ["probe 2"] });
  assert.deepEqual([findings.about("reward.py"), findings.about("data.jsonl")], [["a", "b"], ["a"]]);
  // What a run recorded is asked for alone, too.
  findings.set("a", [at("reward.py", 3, "run")], true);
  findings.set("b", [], false);
  assert.deepEqual(shown(), { "reward.py": ["probe 7", "run 3"], "data.jsonl": ["probe 2"] });
  findings.set("a", [], true);
  assert.deepEqual(shown(), { "reward.py": ["probe 7"], "data.jsonl": ["probe 2"] });
  assert.deepEqual([findings.forget("a"), findings.forget("a"), shown()], [true, false, {}]);
});
