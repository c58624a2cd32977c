/** What lines of verl's dumps and rows of TRL's files become. */
import assert from "node:assert/strict";
import { readFileSync } from "node:fs";
import { test } from "node:test";
import type { JsonObject } from "../../../../shared/lib/json.ts";
import { parseJson } from "../../../../shared/rollouts/rollouts.ts";
import { shortest } from "../../../../server/analysis/imported/float32.ts";
import { groupSize, trlRows } from "../../../../server/analysis/imported/trlRows.ts";
import { verlRows } from "../../../../server/analysis/imported/verlRows.ts";
import { parquetRows } from "../../../../server/lib/parquet.ts";

const folder = "test/fixtures/imported";
const lines = (file: string): JsonObject[] =>
  readFileSync(`${folder}/${file}`, "utf8")
    .trimEnd()
    .split("\n")
    .map((line) => parseJson(line) as JsonObject);
const score = [{ field: "score", term: "answer", weight: 1 }];
const sizes = (rows: readonly { group: string }[]): Record<string, number> => {
  const found: Record<string, number> = {};
  for (const { group } of rows) found[group] = (found[group] ?? 0) + 1;
  return found;
};

test("verl's V1: the group is the first part of uid, the score is the config's term, and NaN stays NaN", () => {
  const entries = lines("verl/rollouts/3.jsonl");
  const rows = verlRows(entries, 3, { terms: score });
  assert.deepEqual(Object.values(sizes(rows)), [4, 4, 4, 4]);
  assert.ok(rows.every(({ group }) => /^[0-9a-f-]{36}$/.test(group)));
  assert.deepEqual(
    rows.slice(0, 4).map(({ index }) => index),
    [0, 1, 2, 3],
  );
  const broken = rows.filter(({ reward }) => reward === "NaN");
  assert.equal(broken.length, 1);
  assert.deepEqual(broken[0]!.rewards, { answer: "NaN" });
  const first = rows[0]!;
  assert.equal(first.prompt, entries[0]!["input"]);
  assert.equal(first.response, entries[0]!["output"]);
  assert.deepEqual(first.task?.data, { ground_truth: entries[0]!["gts"], answer: entries[0]!["gts"] });
  assert.deepEqual([first.task?.env, first.use, first.advantage], ["verl", "train", undefined]);
});

test("verl's older dumps: equal inputs are a group; numbers of the reward's dict are components, texts are data", () => {
  const rows = verlRows(lines("verlOlder/rollouts/1.jsonl"), 1, { terms: score });
  assert.deepEqual(sizes(rows), { 0: 4, 1: 4, 2: 4, 3: 4 });
  for (const { group, prompt } of rows)
    assert.equal(new Set(rows.filter((row) => row.group === group).map((row) => row.prompt)).size, 1, prompt);
  const [{ rewards, components, reward, task } = {}] = rows;
  assert.deepEqual(rewards, { answer: reward });
  assert.deepEqual(components, { answer: { acc: Number(reward === 1), format: 1 } });
  assert.equal(typeof task?.data?.["pred"], "string");
});

test("a config with several terms has none that is verl's score: the reward is whole", () => {
  const [row] = verlRows(lines("verlOlder/rollouts/1.jsonl"), 1, { terms: [] });
  assert.deepEqual([row?.rewards, row?.components], [{}, undefined]);
  assert.equal(typeof row?.reward, "number");
  assert.equal(row?.task?.data?.["format"], 1);
});

test("TRL: neighbours with equal prompts are groups, one prompt may have two; what does not apply is null", () => {
  const terms = [
    { field: "digits", term: "digits", weight: 1 },
    { field: "short", term: "short", weight: 0.5 },
  ];
  const entries = parquetRows(`${folder}/trl/completions/completions_00001.parquet`);
  const rows = trlRows(entries, 1, { terms });
  assert.deepEqual(sizes(rows), { 0: 4, 1: 4, 2: 4, 3: 4 });
  const all = [1, 2, 3].flatMap((step) =>
    parquetRows(`${folder}/trl/completions/completions_0000${step}.parquet`),
  );
  const none = trlRows(all, 1, { terms }).filter(({ rewards }) => rewards?.["short"] === null);
  assert.ok(none.length > 0 && none.every(({ reward, rewards }) => reward === rewards?.["digits"]));
  for (const [at, row] of rows.entries()) {
    const { digits, short, answer, advantage } = entries[at]!;
    const reward = Number(digits) + (typeof short === "number" ? 0.5 * short : 0);
    assert.ok(Math.abs(Number(row.reward) - reward) < 1e-7);
    assert.equal(row.advantage, advantage);
    assert.deepEqual(row.task?.data, { answer });
  }
});

test("groups of TRL: what divides every run of equal prompts, and a config's size where it fits", () => {
  assert.equal(groupSize([..."aaaabbbb"]), 4);
  assert.equal(groupSize([..."aaaaaaaabbbb"]), 4);
  assert.equal(groupSize([]), 1);
  const entries = [..."aaaaaaaabbbbbbbb"].map((prompt) => ({ prompt, completion: "", advantage: 0 }));
  assert.deepEqual(sizes(trlRows(entries, 1, { terms: [] })), { 0: 8, 1: 8 });
  assert.deepEqual(sizes(trlRows(entries, 1, { terms: [], group: 4 })), { 0: 4, 1: 4, 2: 4, 3: 4 });
  assert.deepEqual(sizes(trlRows(entries, 1, { terms: [], group: 3 })), { 0: 8, 1: 8 });
});

test("conversations: the only message is the text; of several, who says what; messages are kept", () => {
  const prompt = [
    { role: "system", content: "Be short." },
    { role: "user", content: "2+2?" },
  ];
  const [row] = trlRows([{ prompt, completion: [{ role: "assistant", content: "4" }], advantage: 1 }], 1, {
    terms: [],
  });
  assert.equal(row?.prompt, "system: Be short.\n\nuser: 2+2?");
  assert.equal(row?.response, "4");
  assert.deepEqual(row?.task?.data, { messages: prompt });
});

test("float32: a number is the shortest that rounds to it, as the reward gave it", () => {
  for (const given of [0.1, 0.7, -0.35, 1e-5, 123.456, 0.3333333, 2])
    assert.equal(shortest(Math.fround(given)), given);
  assert.deepEqual([0.1, 1 / 3, Number.NaN].map(shortest), [0.1, 1 / 3, Number.NaN]);
  const rewards = new Set(
    verlRows(lines("verl/rollouts/1.jsonl"), 1, { terms: score }).map(({ reward }) => reward),
  );
  assert.deepEqual([...rewards].sort(), [0.1, 1]);
});
