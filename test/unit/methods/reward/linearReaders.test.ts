/** What meets a model's text on the run's own thread reads it in one pass, and finds what an expression would find. */
import assert from "node:assert/strict";
import { test } from "node:test";
import { fences } from "../../../../server/lib/texts/fences.ts";
import { tagged } from "../../../../server/lib/texts/tagged.ts";
import { callsIn } from "../../../../server/core/toolCalls.ts";
import { confidenceIn } from "../../../../server/methods/reward/calibration/confidence.ts";
import { programOf } from "../../../../server/methods/reward/code/program.ts";
import { equation } from "../../../../server/methods/reward/equation.ts";
import { sentencesOf } from "../../../../server/methods/reward/judges/judgeSentences.ts";
import { numeric } from "../../../../server/methods/reward/numeric.ts";
import { edited } from "../../../../server/methods/reward/text/edits.ts";
import { turnOf } from "../../../../server/methods/tasks/harbor/commands.ts";
import { actionsIn, actionText } from "../../../../server/methods/tasks/worlds/world.ts";
import type { RewardContext } from "../../../../server/core/reward.ts";
import { batchOf, made } from "../../support.ts";

/** Texts of n characters that go back again and again. */
const pieces: readonly string[] = [
  "```",
  "```\n",
  "``` ",
  "a",
  " ",
  "\n",
  "\t",
  "1",
  "1,",
  "1 ",
  ".",
  ".x",
  "<answer>",
  "<action>",
  "</answer>",
  "<tool_call>",
  "[",
  "$ ",
  "```\n### a\n<<<<<<< SEARCH\n",
  "```\n### a\n<<<<<<< SEARCH\nx\n=======\n",
  "\n<<<<<<< SEARCH\n",
  "\n=======\n",
  "<confidence>",
  "<answer>1",
  "```sql",
  "! ",
  "?",
];
const size = 200_000;
const grown: readonly string[] = pieces.flatMap((piece) => {
  const text = piece.repeat(Math.ceil(size / piece.length));
  return [
    text,
    `x${text}x`,
    `\`\`\`${text}`,
    `<answer>${text}x</answer>`,
    `<confidence>${text}x</confidence>`,
  ];
});

const tool = { name: "search", description: "", parameters: {} };
const readers: Readonly<Record<string, (text: string) => unknown>> = {
  program: (text) => programOf(text, "last_block", "auto"),
  command: turnOf,
  edits: (text) => edited(text, new Map([["a", "x"]])),
  confidence: (text) => confidenceIn(text, "confidence"),
  action: actionText,
  actions: (text) => actionsIn(text, 4),
  calls: (text) => [callsIn(text, "json", [tool as never]), callsIn(text, "tags", [tool as never])],
  sentences: sentencesOf,
};

for (const [name, read] of Object.entries(readers))
  test(`${name}: texts of 200,000 characters that go back again and again`, () => {
    for (const text of grown) read(text);
  });

const context = {} as RewardContext;
test("equation and numeric: the same texts", async () => {
  for (const term of [made(equation, { place: "answer_tag" } as never), made(numeric, {})]) {
    const rows = grown.map((response, index) => ({
      ...{ step: 0, group: "g", index, prompt: "p", response, tokens: [1] },
      task: { env: "e", id: "t", answer: "1", data: { numbers: [1, 2], target: 3 } },
    }));
    await term.score(batchOf(rows), context);
  }
});

/** Seeded texts of marks in any order. */
function* shuffled(marks: readonly string[], count: number): Generator<string> {
  let state = 7;
  const next = (most: number): number => (state = (state * 48271) % 2147483647) % most;
  for (let k = 0; k < count; k++)
    yield Array.from({ length: 1 + next(14) }, () => marks[next(marks.length)]!).join("");
}

test("fences, tags and blocks are those that expressions find", () => {
  const fence = /^[ \t]*```([^\n]*)\n([\s\S]*?)(?:^[ \t]*```|$(?![\s\S]))/gm;
  for (const text of shuffled(["```", "\n", "```py\n", " ", "x", "\n```\n", "\t```", "\n\n"], 5000)) {
    const found = [...text.matchAll(fence)].map((one) => [one[1]!.trim(), one[2]]);
    assert.deepEqual(
      fences(text).map(({ named, body }) => [named, body]),
      found,
      JSON.stringify(text),
    );
    for (const { start, body } of fences(text)) assert.equal(text.slice(start, start + body.length), body);
  }
  const pair = /<(action|answer)>([\s\S]*?)<\/\1>/g;
  for (const text of shuffled(["<action>", "</action>", "<answer>", "</answer>", "x", "\n"], 5000))
    assert.deepEqual(
      tagged(text, ["action", "answer"]),
      [...text.matchAll(pair)].map((one) => one[2]),
      text,
    );
  const block = /```.*?\n### (.*)\n<<<<<<< SEARCH\n([\s\S]*?)\n=======\n([\s\S]*?)\n>>>>>>> REPLACE\n```/g;
  const marks = [
    "```\n### a\n<<<<<<< SEARCH\n",
    "x",
    "\n=======\n",
    "y",
    "\n>>>>>>> REPLACE\n```",
    "\n",
    "```",
  ];
  for (const text of shuffled(marks, 5000)) {
    const found = [...text.matchAll(block)];
    const none = "there is no search/replace block";
    assert.equal(edited(text, new Map()) === none, found.length === 0, JSON.stringify(text));
  }
});
