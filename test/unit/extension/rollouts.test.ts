import assert from "node:assert/strict";
import { test } from "node:test";
import { rolloutDocument } from "../../../extension/features/rollouts/document.ts";
import type { GroupRow } from "../../../shared/protocol/protocol.ts";
import type { RolloutRow } from "../../../shared/rollouts/rollouts.ts";

const group = (id: string, changes: Partial<GroupRow> = {}): GroupRow => ({
  step: 12,
  group: id,
  task: `task ${id}`,
  arm: "countdown/3",
  admitted: true,
  reason: null,
  successes: 1,
  size: 2,
  ...changes,
});
const rollout = (id: string, index: number, changes: Partial<RolloutRow> = {}): RolloutRow => ({
  step: 12,
  group: id,
  index,
  prompt: "Use 3 and 5 to make 8.\n",
  response: "3 + 5\n",
  finish: "stop",
  rewards: { correct: 1, brevity: -0.2 },
  reward: 0.8,
  advantage: 1.1,
  ...changes,
});
const written = (
  rollouts: readonly RolloutRow[],
  groups: readonly GroupRow[] = [],
  total = rollouts.length,
) => rolloutDocument({ name: "countdown", step: 12, groups, rollouts, total });

test("groups by task, with its arm, passes and verdict, and each rollout's reward, terms and advantage", () => {
  const { text } = written(
    [rollout("a", 1), rollout("b", 0), rollout("a", 0)],
    [group("a"), group("b", { admitted: false, reason: "success rate 1 above 0.8", successes: 2 })],
  );
  assert.match(text, /^countdown · step 12\n2 groups, 3 rollouts, 1 group in training\n/);
  assert.match(text, /■ task a · countdown\/3 · 1 of 2 right · in training/);
  assert.match(text, /■ task b · countdown\/3 · 2 of 2 right · left out: success rate 1 above 0\.8/);
  assert.match(
    text,
    / {2}● 0 {3}reward 0\.800 {3}advantage \+1\.10 {3}stop\n {6}correct 1 {3}brevity −0\.200\n {4}│ 3 \+ 5⏎\n/,
  );
  assert.ok(text.indexOf("● 0") < text.indexOf("● 1"), "rollouts of a group are in order");
});

test("a group whose rewards failed is admitted, and not called in training", () => {
  const failed = { rewards: {}, errors: { bad: "threw" }, reward: null, advantage: null } as const;
  const rows = [rollout("a", 0, failed), rollout("a", 1, failed), rollout("b", 0), rollout("b", 1, failed)];
  const { text } = written(rows, [group("a", { successes: 0 }), group("b")]);
  assert.match(text, /^countdown · step 12\n2 groups, 4 rollouts, 1 group in training\n/);
  assert.match(text, /■ task a .* · trains nothing: its rewards failed\n/);
  assert.match(text, /■ task b .* · in training\n/);
  // Of a group that is not all there, nothing is said.
  assert.match(
    written([rollout("a", 0, failed)], [group("a", { size: 8 })]).text,
    /■ task a .* · in training\n/,
  );
  // A log without advantages, too.
  assert.match(
    written([{ step: 12, group: "a", index: 0, reward: 1 }], [group("a", { size: 1 })]).text,
    / · in training\n/,
  );
});

test("a term is shown with the weight that it had, where that is not 1", () => {
  const weights = { correct: 1, brevity: 0.7, odd: 0.5 };
  const { text, marks } = written([
    rollout("a", 0, { rewards: { correct: 1, brevity: -0.2, odd: null }, weights }),
  ]);
  assert.match(text, /\n {6}correct 1 {3}brevity −0\.200 × 0\.700 {3}odd n\/a\n/);
  const mark = marks.find(({ sign }) => sign === "negative");
  assert.ok(mark !== undefined);
});

test("a long prompt comes after the answers", () => {
  const prompt = Array.from({ length: 240 }, (_, i) => `line ${i}`).join("\n");
  const { text } = written([rollout("a", 0, { prompt }), rollout("a", 1, { prompt })], [group("a")]);
  assert.match(
    text,
    / {2}\? line 0⏎\n {2}\? line 1⏎\n {2}\? line 2⏎\n {2}\? … 237 more lines, after the answers\n {2}● 0/,
  );
  assert.ok(text.indexOf("line 239") > text.indexOf("● 1"));
  assert.match(text, / {2}The whole prompt:\n {2}\? line 0⏎\n/);
});

test("the rest of a long response is folded, after its beginning", () => {
  const response = Array.from({ length: 40 }, (_, i) => `line ${i}`).join("\n");
  const { text, folds } = written([rollout("a", 0, { response }), rollout("a", 1)], [group("a")]);
  const lines = text.split("\n");
  const [rest, ...more] = folds.filter(({ closed }) => closed);
  assert.deepEqual([lines[rest!.from], lines[rest!.to], more], ["    │ line 11⏎", "    │ line 39", []]);
});

test("a helped rollout says what was prefilled and with which prompt it trains", () => {
  const help = { use: "solution", share: 0.5, round: 1, given: 2, text: "3 " };
  assert.match(
    written([rollout("a", 0, { source: "guided", help })]).text,
    / {3}guided\n {6}helped by solution, 50 % · round 2\n {6}correct 1.*\n.*⟦3 ⟧/,
  );
  const hint = { use: "hint", by: "teacher", round: 0, prompt: "8? Add.", stripped: true };
  assert.match(
    written([rollout("a", 0, { help: hint })]).text,
    /helped by hint \(teacher\) · prompted with "8\? Add\." · trains conditioned on the task's own prompt/,
  );
});

test("line ends are visible, and an empty response is said to be one", () => {
  assert.match(
    written([rollout("a", 0, { response: "one\n\ntwo" })]).text,
    / {4}│ one⏎\n {4}│ ⏎\n {4}│ two\n/,
  );
  assert.match(written([rollout("a", 0, { response: "" })]).text, /│ \(empty\)/);
  assert.match(written([rollout("a", 0, { response: "windows\r\nend" })]).text, /│ windows⏎\n {4}│ end\n/);
});

test("an error is an error, not a reward of zero; missing and non-finite values are said", () => {
  const { text, marks } = written([
    rollout("a", 0, {
      rewards: { correct: 1, bonus: null, odd: "NaN", steps: { level: "step", values: [0.5, null, 0.25] } },
      errors: { style: "timeout\nafter 2 s" },
      reward: "Infinity",
      advantage: null,
    }),
  ]);
  assert.match(
    text,
    /correct 1 {3}bonus n\/a {3}odd – {3}steps 0\.750 over 3 steps {3}style failed: timeout after 2 s/,
  );
  assert.match(text, /● 0 {3}reward ∞ {3}stop/);
  const error = marks.find(({ sign }) => sign === "error")!;
  assert.equal(text.split("\n")[error.line]!.slice(error.from, error.to), "style failed: timeout after 2 s");
});

test("marks lie on the pieces whose sign they mark", () => {
  const { text, marks } = written([rollout("a", 0), rollout("a", 1, { advantage: -0.4, finish: "length" })]);
  const lines = text.split("\n");
  const marked = marks.map(({ line, from, to, sign }) => `${sign}: ${lines[line]!.slice(from, to)}`);
  assert.deepEqual(marked, [
    "positive: advantage  +1.10",
    "negative: brevity −0.200",
    "negative: advantage −0.400",
    "error: truncated",
    "negative: brevity −0.200",
  ]);
});

test("folds and headings cover whole groups and rollouts", () => {
  const { text, folds, headings } = written(
    [rollout("a", 0), rollout("a", 1), rollout("b", 0)],
    [group("a"), group("b")],
  );
  const lines = text.split("\n");
  assert.deepEqual(
    headings.map(({ name }) => name),
    ["task a", "task b"],
  );
  assert.deepEqual(
    headings[0]!.children.map(({ name }) => name),
    ["0 · reward 0.800", "1 · reward 0.800"],
  );
  for (const { line, end } of headings) {
    assert.match(lines[line]!, /^■/);
    assert.ok(folds.some(({ from, to }) => from === line && to === end));
  }
  for (const { from, to } of folds) assert.ok(from < to && to < lines.length);
});

test("a step without rollouts says why; a cut list says so", () => {
  assert.match(written([]).text, /warm-up steps train on reference answers/);
  assert.match(written([rollout("a", 0)], [], 5_000).text, /The first 1 are shown/);
});

test("criteria are below their term, folded to how many are met", () => {
  const criteria = [
    { text: "names\nthe dose", points: 5, met: 1 },
    { name: "harm", text: "recommends harm", points: -4, veto: true, met: 1 },
    { text: "is brief", points: 1, met: null },
    { text: "rhymes", points: 1, met: 0.5 },
  ];
  const { text, folds, marks } = written([rollout("a", 0, { details: { style: { criteria } } })]);
  assert.match(
    text,
    /\n {6}style: 2 of 4 criteria met, 1 not known\n {8}✓ \+5 names the dose\n {8}✓ −4, veto harm\n {8}\? \+1 is brief\n {8}50 % \+1 rhymes\n/,
  );
  const line = text.split("\n").findIndex((one) => one.includes("style: 2 of 4"));
  assert.ok(folds.some(({ from, to }) => from === line && to === line + 4));
  const signs = marks.filter((mark) => mark.line > line && mark.line <= line + 4).map(({ sign }) => sign);
  assert.deepEqual(signs, ["positive", "negative"]);
});
