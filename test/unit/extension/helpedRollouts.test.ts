/** A helped rollout in the document: what was given is between brackets, and the line above says what trains. */
import assert from "node:assert/strict";
import { test } from "node:test";
import { rolloutDocument } from "../../../extension/features/rollouts/document.ts";
import { branchText } from "../../../shared/rollouts/branchText.ts";
import { helpText } from "../../../shared/rollouts/helpText.ts";
import { responseParts } from "../../../shared/rollouts/responseParts.ts";
import type { RolloutRow } from "../../../shared/rollouts/rollouts.ts";

const help: NonNullable<RolloutRow["help"]> = {
  use: "solution",
  share: 0.5,
  round: 0,
  given: 3,
  text: "ab\nc",
  trains: { given: { tokens: 3, trained: 1 }, written: { tokens: 1, trained: 1 } },
};
const row: RolloutRow = {
  step: 1,
  group: "g",
  index: 0,
  response: "ab\ncd",
  reward: 1,
  source: "guided",
  help,
};

test("pieces of a response", () => {
  const pieces = (more: Partial<RolloutRow>): string[] =>
    responseParts({ ...row, ...more }).map(({ kind, text }) => `${kind} ${text}`);
  assert.deepEqual(pieces({}), ["given ab\nc", "written d"]);
  const feedback = { ...help, text: " no: " };
  assert.deepEqual(pieces({ response: "12 no: 3", help: feedback, spans: { attempt: [[0, 2]] } }), [
    "written 12",
    "given  no: ",
    "written 3",
  ]);
  assert.deepEqual(pieces({ help: { use: "hint", round: 0 } }), ["written ab\ncd"]);
  assert.deepEqual(pieces({ response: "" }), []);
});

test("the document brackets and marks what was given, over its lines", () => {
  const { text, marks } = rolloutDocument({ name: "run", step: 1, groups: [], rollouts: [row], total: 1 });
  assert.match(text, /helped by solution, 50 % · 1 of 3 prefilled tokens train, 1 generated token trains\n/);
  assert.match(text, / {4}│ ⟦ab⏎\n {4}│ c⟧d\n/);
  const lines = text.split("\n");
  assert.deepEqual(
    marks.filter(({ sign }) => sign === "given").map(({ line, from, to }) => lines[line]!.slice(from, to)),
    ["⟦ab⏎", "c⟧"],
  );
  assert.match(helpText(help), /3 tokens prefilled: "ab\\nc" · 1 of 3/);
  assert.equal(
    helpText({ use: "hint", share: 0.5, round: 0 }),
    "helped by hint, 50 % of it: less than one unit, so nothing",
  );
  assert.equal(helpText({ use: "hint", share: 0, round: 0 }), "helped by hint, 0 %");
});

test("a branch says whom it left, and what it took over is between brackets", () => {
  const { help: _, ...plain } = row;
  const branch: RolloutRow = {
    ...plain,
    index: 4,
    source: "self",
    response: "ab or not",
    parent: { index: 1, token: 3, text: "ab or" },
  };
  assert.deepEqual(responseParts(branch), [
    { kind: "given", text: "ab or" },
    { kind: "written", text: " not" },
  ]);
  const { text, marks } = rolloutDocument({
    name: "r",
    step: 1,
    groups: [],
    rollouts: [branch],
    total: 1,
  });
  assert.match(text, /branch of rollout 1, whose first 3 tokens it shares\n/);
  assert.match(text, /│ ⟦ab or⟧ not\n/);
  assert.ok(marks.some(({ sign }) => sign === "given"));
  assert.equal(
    branchText({ index: 0, token: 1, text: "a" }),
    'branch of rollout 0, whose first 1 token it shares: "a"',
  );
});
