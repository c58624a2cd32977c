import assert from "node:assert/strict";
import { test } from "node:test";
import { oneDocument } from "../../../extension/features/rollouts/one/document.ts";
import { sectionsOf } from "../../../extension/features/rollouts/one/sections.ts";
import { siblingItems } from "../../../extension/features/rollouts/one/siblings.ts";
import { whyMarkdown } from "../../../extension/features/rollouts/whyText.ts";
import type { RolloutRow } from "../../../shared/rollouts/rollouts.ts";
import type { Why } from "../../../shared/rollouts/why.ts";
import { traceTurns } from "../../support/traceRun.ts";

const rollout = (index: number, changes: Partial<RolloutRow> = {}): RolloutRow => ({
  step: 12,
  group: "a",
  index,
  task: { id: "task a", arm: "countdown/3" },
  prompt: "Use 3 and 5\nto make 8.",
  response: "3 + 5\n",
  finish: "stop",
  rewards: { correct: 1, brevity: -0.2 },
  weights: { correct: 1, brevity: 0.5 },
  reward: 0.9,
  advantage: 1.1,
  admitted: true,
  ...changes,
});
const written = (one: RolloutRow, siblings: readonly RolloutRow[] = [one]) =>
  oneDocument({ name: "countdown", rollout: one, siblings });

test("a rollout begins with what it earned, by term, then its prompt, folded, then its response", () => {
  const { text, folds } = written(rollout(1));
  assert.match(
    text,
    /^countdown · step 12 · task a · countdown\/3 · rollout 1\nreward 0\.900 {3}advantage \+1\.10 {3}stop {3}in training\n {2}correct {7}1\n {2}brevity {2}−0\.200 {2}× 0\.500 = −0\.100\n\n■ prompt · 2 lines\nUse 3 and 5⏎\nto make 8\.\n\n■ response\n3 \+ 5⏎\n$/,
  );
  const [prompt] = folds.filter(({ closed }) => closed);
  assert.equal(text.split("\n")[prompt!.from], "■ prompt · 2 lines");
});

test("siblings' rewards lead to them, and are the same text in each of their documents", () => {
  const all = Array.from({ length: 8 }, (_, index) => rollout(index, { reward: index / 7 }));
  const documents = all.map((one) => written(one, all));
  const groups = documents.map(({ text }) => text.split("\n").filter((line) => line.includes("#")));
  assert.equal(new Set(groups.map(String)).size, 1);
  assert.ok(groups[0]!.every((line) => line.length <= 60));
  const { links, text } = documents[2]!;
  assert.deepEqual(
    links.map(({ index }) => index),
    [0, 1, 3, 4, 5, 6, 7],
  );
  for (const { line, from, to, index } of links)
    assert.match(text.split("\n")[line]!.slice(from, to), new RegExp(`^#${index} `));
});

test("each line of a response is where it says, whatever ends it and however long it is", () => {
  const response = `one\r\ntwo\n\n${"word ".repeat(2_500)}\u2028end\n`;
  const { text, response: lines } = written(rollout(0, { response }));
  const shown = text.split("\n");
  const back = lines.map(({ offset, length, line, margin }) => {
    const piece = response.slice(offset, offset + length).replace("\u2028", "⏎");
    assert.equal(shown[line]!.slice(margin, margin + length), piece);
    return piece;
  });
  assert.equal(back.join(""), response.replaceAll(/[\r\n]/g, "").replace("\u2028", "⏎"));
  assert.ok(shown.every(({ length }) => length <= 5_001));
});

test("a trace of sixty turns is an outline: rewards on their turn, calls and results fold, what was observed is dimmed", () => {
  const turns = traceTurns(60);
  let at = 0;
  const placed = turns.map(({ role, text }) => ({ role, text, start: at, end: (at += text.length) }));
  const values = turns.map(({ role }, i) => (role === "tool" ? null : i === 2 ? -0.1 : 0.5));
  const { text, headings, marks, folds, response } = written(
    rollout(0, {
      response: turns.map((turn) => turn.text).join("\n"),
      turns: placed,
      rewards: { manners: { level: "turn", values } },
    }),
  );
  const lines = text.split("\n");
  const outline = headings.find(({ name }) => name === "response")!;
  assert.equal(outline.children.length, 60);
  assert.equal(outline.children[2]!.name, "3 assistant");
  assert.match(outline.children[2]!.detail, /^\d+ tokens · manners −0\.100$/);
  assert.deepEqual(
    outline.children[2]!.children.map(({ name, detail }) => `${name} ${detail}`),
    ["think I need part 2 of the route.", "tool_call search"],
  );
  for (const { line, end, name } of outline.children) {
    assert.ok(lines[line]!.includes(name));
    assert.ok(folds.some(({ from, to }) => from === line && to === end));
  }
  const closed = folds.filter((fold) => fold.closed).map(({ from }) => lines[from]!);
  assert.equal(closed.filter((line) => line.includes("tool")).length, 30);
  const result = lines.findIndex((line) => line.startsWith("result 1"));
  assert.ok(marks.some(({ line, sign }) => line === result && sign === "given"));
  const all = turns.map((turn) => turn.text).join("\n");
  for (const { offset, length, line } of response)
    assert.ok(lines[line]!.startsWith(all.slice(offset, offset + length)));
});

test("a tool's answer says which tool, and a choice among how many actions it is one", () => {
  const { headings } = written(
    rollout(0, {
      response: "north\nA wall.",
      turns: [
        { role: "assistant", text: "north", start: 0, end: 5, actions: ["north", "east"] },
        { role: "tool", name: "look", text: "A wall.", start: 5, end: 12 },
      ],
    }),
  );
  assert.deepEqual(
    headings
      .find(({ name }) => name === "response")!
      .children.map(({ name, detail }) => `${name}: ${detail}`),
    ["1 assistant: 5 tokens · one of 2 actions", "2 tool look: 7 tokens"],
  );
});

test("sections are tags and fences that end, with what they are about", () => {
  const text = [
    "<think>",
    "a",
    "```py",
    "x = 1",
    "```",
    "</think>",
    "<open>",
    "b",
    "<answer>4</answer>",
    "```",
    "c",
  ];
  assert.deepEqual(sectionsOf(text), [
    { from: 0, to: 5, kind: "think", title: "a" },
    { from: 2, to: 4, kind: "py", title: "x = 1" },
  ]);
});

test("an explanation is its sentences and what each term gave; names cannot become markup", () => {
  const why: Why = {
    type: "why",
    step: 1,
    group: "a",
    index: 0,
    trains: true,
    reward: 1,
    advantage: 1.2,
    recorded: 1.2,
    baseline: "group_mean",
    scale: "group_std",
    siblings: [],
    shares: {
      kind: "exact",
      terms: [{ term: "a|b_c", weight: 0.5, value: 1, share: 1.2, note: null }],
      rest: 0,
    },
    alternatives: [
      { baseline: "none", scale: "group_std", chosen: false, advantage: 2, reason: null },
      { baseline: "group_mean", scale: "group_std", chosen: true, advantage: 1.2, reason: null },
    ],
    tokens: { total: 1, trained: 1, rules: [], clips: "unknown" },
    words: [
      { about: "advantage", text: "Its reward is *1*." },
      { about: "tokens", text: "not here" },
    ],
  };
  const text = whyMarkdown(why);
  assert.match(text, /^Its reward is \\\*1\\\*\\\.\n\n/);
  assert.match(text, /\| a\\\|b\\_c \| 1 \| × 0\.500 \| \+1\.20 \|/);
  assert.match(text, /\| group\\_mean \| \*\*\+1\.20\*\* \|\n\| none \| \+2 \|$/);
  assert.doesNotMatch(text, /not here/);
});

test("to be compared with: the best, the worst and the next sibling first, never itself", () => {
  const group = [0.2, 1, 0.5, 0.9, 0, null].map((reward, index) => rollout(index, { reward }));
  assert.deepEqual(
    siblingItems(group, 2).map(({ index, description }) => `${index} ${description.split(" · ")[0]}`),
    ["1 best", "4 worst", "3 next", "0 reward 0.200", "5 reward –"],
  );
  assert.deepEqual(
    siblingItems(group.slice(0, 2), 0).map(
      ({ index, description }) => `${index} ${description.split(" · ")[0]}`,
    ),
    ["1 best"],
  );
  assert.deepEqual(siblingItems(group.slice(0, 1), 0), []);
});
