/** Labelling by keys and the report, as a person sees them in a terminal. */
import assert from "node:assert/strict";
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { after, before, test } from "node:test";
import { chatServer, type ChatServer } from "../../support/chatServer.ts";
import type { Ended } from "../../support/commandHost.ts";
import { gradus } from "../../support/cli.ts";

let folder = "";
let server: ChatServer;
const answer = (i: number): string => `${i % 2 === 0 ? "Thanks" : "No"}, ${"well ".repeat(i)}${i}.`;

before(async () => {
  folder = mkdtempSync(join(tmpdir(), "gradus-judge-"));
  // Says yes to what is polite; of answer 5 something else the second time.
  server = await chatServer((text, times) =>
    text.includes("Thanks") !== (text.includes(" 5.") && times % 2 === 0) ? "yes" : "no",
  );
  writeFileSync(
    join(folder, "c.gradus.yaml"),
    [
      "tasks: [{ env: countdown }]",
      "reward:",
      "  terms:",
      "    correct: equation",
      "    tone: { use: format, pattern: '[^!]*' }",
      `    polite: { use: rubric, judge: { url: "${server.url}", model: served } }`,
      "",
    ].join("\n"),
  );
  const rows = Array.from({ length: 12 }, (_, i) =>
    JSON.stringify({
      ...{ step: 0, group: "a", index: i, prompt: "Say something.", response: answer(i) },
      task: { env: "countdown", data: { numbers: [1, 2], target: 3, rubric: ["is polite"] } },
      rewards: { tone: i % 3 === 0 ? 1 : 0, polite: i % 2 === 0 ? 1 : 0 },
    }),
  );
  writeFileSync(join(folder, "r.jsonl"), `${rows.join("\n")}\n`);
});
after(async () => {
  await server.close();
  rmSync(folder, { recursive: true, force: true });
});

const judge = (words: readonly string[], input?: string): Promise<Ended> =>
  gradus(["judge", "c.gradus.yaml", ...words], folder, input);
const labelsOf = (): readonly { readonly index: number; readonly label: Record<string, unknown> }[] =>
  readFileSync(join(folder, "c.labels.jsonl"), "utf8")
    .trim()
    .split("\n")
    .map((line) => JSON.parse(line));

test("one key each, blind, kept at every key, and gone on with", async () => {
  const first = await judge(["polite", "--label", "--rollouts", "r.jsonl", "--count", "6"], "gxbuSq");
  assert.equal(first.code, 0, first.stderr);
  assert.equal(first.stdout, "");
  assert.match(first.stderr, /1 of 6 · polite\nprompt\nSay something\.\nanswer\n(Thanks|No), /);
  assert.match(first.stderr, /2 labels added to c\.labels\.jsonl/);
  assert.match(first.stderr, /The same command goes on where you stopped/);
  // Good; bad, taken back; skipped. What was said is never taken out of the file.
  assert.deepEqual(
    labelsOf().map(({ label }) => label["value"]),
    ["good", "bad", "skip"],
  );
  const rest = await judge(
    ["polite", "--label", "--rollouts", "r.jsonl", "--count", "6", "--recorded"],
    "gggg",
  );
  assert.equal(rest.code, 0, rest.stderr);
  assert.match(rest.stderr, /3 of 6 · polite/);
  assert.match(rest.stdout, /^5 labels: `polite` agrees with \d+ % \(\d+ to \d+ %\) of them/);
  assert.equal(new Set(labelsOf().map(({ index }) => index)).size, 6);
  assert.equal(server.asked.length, 0);
  const all = await judge(["polite", "--label", "--rollouts", "r.jsonl", "--count", "6", "--recorded"], "");
  assert.match(all.stderr, /All 6 rollouts that were drawn have a label/);
});

test("the judge is asked now, twice, and a verdict that changes is counted", async () => {
  const lines = Array.from({ length: 10 }, (_, i) =>
    JSON.stringify({
      ...{ step: 0, group: "a", index: i, prompt: "Say something.", response: answer(i) },
      task: { env: "countdown", data: { rubric: ["is polite"] } },
      label: { term: "polite", value: i === 0 || i % 2 === 1 ? "bad" : "good" },
    }),
  );
  writeFileSync(join(folder, "own.jsonl"), `${lines.join("\n")}\n`);
  const report = JSON.parse((await judge(["--labels", "own.jsonl", "--json"])).stdout);
  assert.equal(server.asked.length, 20);
  assert.equal(report.term, "polite");
  assert.equal(report.scores, "asked");
  assert.equal(report.agreement.value, 0.9);
  assert.equal(report.flips.value, 0.1);
  assert.deepEqual(
    report.disagreements.map(({ index }: { readonly index: number }) => index),
    [0],
  );
  const text = (await judge(["polite", "--labels", "own.jsonl"])).stdout;
  assert.match(text, /^10 labels: `polite` agrees with 90 % \(60 to 98 %\) of them, better than a coin/);
  assert.match(text, /\n {2}step 0, a#0: score 1, labelled bad\n$/);
});

test("what cannot be done is said with what to do", async () => {
  const none = await judge(["correct"]);
  assert.equal(none.code, 1);
  assert.match(
    none.stderr,
    /there are no labels of `correct` in c\.labels\.jsonl.*\n.*gradus judge c\.gradus\.yaml correct --label/,
  );
  const which = await judge(["--labels", "missing.jsonl"]);
  assert.equal(which.code, 2);
  assert.match(which.stderr, /not said which reward term.*\n.*correct, tone, polite/);
  const unscored = await judge(["correct", "--label", "--rollouts", "r.jsonl"], "g");
  assert.match(unscored.stderr, /no rollout has a score of `correct`/);
});
