import assert from "node:assert/strict";
import { test } from "node:test";
import { foundDocument, searchDocument } from "../../../extension/features/rollouts/find/document.ts";
import { taskDocument } from "../../../extension/features/rollouts/find/taskDocument.ts";
import type { GroupRow } from "../../../shared/protocol/protocol.ts";
import type { RolloutRow } from "../../../shared/rollouts/rollouts.ts";
import { taskHistory } from "../../../shared/rollouts/taskHistory.ts";

const rollout = (step: number, index: number, changes: Partial<RolloutRow> = {}): RolloutRow => ({
  step,
  group: `${step}/0`,
  index,
  task: { id: "t", arm: "easy" },
  response: `answer ${index}\nof ${step}`,
  finish: "stop",
  reward: index / 4,
  advantage: index - 1,
  ...changes,
});
const group = (step: number, changes: Partial<GroupRow> = {}): GroupRow => ({
  step,
  group: `${step}/0`,
  task: "t",
  arm: "easy",
  admitted: true,
  reason: null,
  successes: step,
  size: 3,
  ...changes,
});

test("found rollouts are rows below each other, each a link to its rollout, with how many there are", () => {
  const rows = [rollout(3, 1), rollout(120, 2, { reward: null, advantage: null, finish: "length" })];
  const { text, rollouts, marks } = foundDocument({
    name: "run",
    rollouts: rows,
    total: 1_500,
    all: 9_000,
    where: "reward >\n 0.5",
    sort: "-reward",
  });
  const lines = text.split("\n");
  assert.equal(lines[0], "run · 1,500 of 9,000 rollouts with reward > 0.5");
  assert.equal(lines[1], "Sorted by reward, highest first, the first 2");
  assert.equal(lines[3], "step   #  reward  advantage  length  finish     arm   response");
  assert.equal(lines[4], "   3  #1   0.250         ±0      13  stop       easy  answer 1⏎of 3");
  assert.equal(lines[5], " 120  #2       –          –      15  truncated  easy  answer 2⏎of 120");
  assert.deepEqual(
    rollouts.map(({ from, at, step, index }) => [lines[from]!.slice(at[0], at[1]), step, index]),
    [
      ["3  #1", 3, 1],
      ["120  #2", 120, 2],
    ],
  );
  assert.ok(marks.every(({ line, from, to }) => lines[line]!.slice(from, to).trim() !== ""));
});

test("a task is followed by its steps, with the best and the worst of each, and what came of it from first to last", () => {
  const rollouts = [
    rollout(2, 0),
    rollout(2, 1),
    rollout(2, 2),
    rollout(0, 1),
    rollout(0, 0, { reward: null }),
  ];
  const steps = taskHistory([group(0, { admitted: false, reason: "all wrong" }), group(2)], rollouts);
  assert.deepEqual(
    steps.map(({ step, rollouts: count, best, worst }) => [step, count, best?.index, worst?.index]),
    [
      [0, 2, 1, 1],
      [2, 3, 2, 0],
    ],
  );
  const document = taskDocument({ name: "run", task: "t", arm: "easy", prompt: "a\nb", steps });
  const { text } = document;
  assert.match(
    text,
    /^run · t · easy\nIn 2 steps, 0 to 2 {2}\S\S {2}0 of 2 right → 2 of 3 right\n {2}\? a⏎\n {2}\? b\n/,
  );
  assert.match(text, /■ step 0 · 0 of 2 right · mean reward 0\.250 · left out: all wrong\n {2}● 1 {3}best /);
  assert.match(
    text,
    /■ step 2 .* · in training\n {2}● 2 {3}best {4}reward 0\.500 {3}advantage \+1\n {4}│ answer 2⏎\n {4}│ of 2\n {2}● 0 {3}worst/,
  );
  assert.deepEqual(
    document.steps.map(({ line, step }) => [text.split("\n")[line]!.slice(0, 8), step.step]),
    [
      ["■ step 0", 0],
      ["■ step 2", 2],
    ],
  );
  assert.equal(document.rollouts.length, 3);
});

test("a held-out task has mean rewards: no one counts who was right", () => {
  const steps = taskHistory([], [rollout(1, 2), rollout(5, 4)]);
  const { text } = taskDocument({ name: "run", task: "t", arm: undefined, prompt: undefined, steps });
  assert.match(
    text,
    /^run · t\nIn 2 steps, 1 to 5 {2}\S\S {2}mean reward 0\.500 → mean reward 1\n\n■ step 1 · 1 answer · /,
  );
  assert.match(
    taskDocument({ name: "run", task: "t", arm: undefined, prompt: undefined, steps: [] }).text,
    /No step has drawn it/,
  );
});

test("a held-out task goes on through every evaluation, also those that kept no answer to it", () => {
  const evaluation = (step: number, right: number, greedy: number | null) => ({
    step,
    role: "periodic" as const,
    metrics: {},
    results: {
      tasks: ["other", "t"],
      arms: ["a", "a"],
      samples: [8, 8],
      right: [0, right],
      greedy: [1, greedy],
    },
  });
  const kept = { ...rollout(5, 0), use: "evaluate" as const };
  const evaluations = [
    evaluation(1, 6, 1),
    evaluation(5, 2, 1),
    evaluation(9, 0, 0),
    evaluation(13, 1, null),
  ];
  const steps = taskHistory([], [kept], { task: "t", evaluations });
  const { text } = taskDocument({ name: "run", task: "t", arm: "a", prompt: undefined, steps });
  assert.match(
    text,
    /^run · t · a\nIn 4 evaluations, 1 to 13 {2}\S{4} {2}greedy right → 1 of 8 drawn right\n/,
  );
  assert.match(
    text,
    /\n■ step 1 · evaluation: greedy right, 6 of 8 drawn right\n\n■ step 5 · .*2 of 8 drawn right · mean reward/,
  );
  assert.match(text, /\n■ step 9 · evaluation: greedy wrong, 0 of 8 drawn right\n/);
  const strangers = taskHistory([], [], { task: "nobody", evaluations });
  assert.deepEqual(strangers, []);
});

test("answers that hold a text are rows with the part around it, which is marked", () => {
  const hit = { run: "one", attempt: 0, group: "3/0", task: "t", arm: "easy" };
  const { text, rollouts, marks } = searchDocument({
    name: "run",
    text: '"the\nharbour"',
    hits: [
      { ...hit, step: 120, index: 2, reward: 1, snippet: { text: "…to\nthe harbour", marks: [[4, 15]] } },
      { ...hit, step: 3, index: 10, reward: null, snippet: { text: "the harbour", marks: [[0, 11]] } },
    ],
    total: 5,
    atLeast: true,
  });
  const lines = text.split("\n");
  assert.equal(lines[0], 'run · at least 5 rollouts whose answer holds "the harbour"');
  assert.equal(lines[1], "The newest first, the first 2");
  assert.equal(lines[3], "120   #2  reward 1  …to⏎the harbour");
  assert.equal(lines[4], "  3  #10  reward –  the harbour");
  assert.deepEqual(
    marks.filter(({ line }) => line > 2).map(({ line, from, to }) => lines[line]!.slice(from, to)),
    ["the harbour", "the harbour"],
  );
  assert.deepEqual(
    rollouts.map(({ from, at }) => lines[from]!.slice(at[0], at[1])),
    ["120   #2", "3  #10"],
  );
});
