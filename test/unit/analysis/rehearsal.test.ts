import assert from "node:assert/strict";
import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { after, before, test } from "node:test";
import { chatServer, type ChatServer } from "../../support/chatServer.ts";
import { gradus } from "../../support/cli.ts";

let folder = "";
let server: ChatServer;

/** Sums to 10 are always answered right, those to 20 half of the time, others never. */
const answer = (text: string, n: number): { readonly raw: string } => {
  const [a, b] = (text.match(/\d+/g) ?? []).map(Number);
  const sum = a! + b!;
  const choices = Array.from({ length: n }, (_, i) => ({
    message: { content: sum <= 10 || (sum <= 20 && i % 2 === 0) ? String(sum) : "no idea" },
    finish_reason: i === 0 ? "length" : "stop",
  }));
  return { raw: JSON.stringify({ choices, usage: { completion_tokens: 3 * n } }) };
};

before(async () => {
  folder = mkdtempSync(join(tmpdir(), "gradus-rehearsal-"));
  const rows = Array.from({ length: 30 }, (_, i) => ({
    prompt: [
      { role: "system", content: "Add." },
      { role: "user", content: `${i + 1} + 0` },
    ],
    sum: String(i + 1),
    level: i < 10 ? "easy" : i < 20 ? "middling" : "hard",
  }));
  writeFileSync(join(folder, "sums.jsonl"), rows.map((row) => JSON.stringify(row)).join("\n"));
  writeFileSync(
    join(folder, "c.gradus.yaml"),
    [
      "model: { base: ./a-model-that-is-not-here }",
      'tasks: [{ dataset: sums.jsonl, answer: "{sum}", difficulty: level }]',
      "curriculum: { arms: difficulty, admission: nonzero_variance }",
      "rollout: { group: 4, temperature: 0.7, max_tokens: 32 }",
      "reward: { terms: { correct: exact_match } }",
      "",
    ].join("\n"),
  );
  server = await chatServer((text, _times, model) => (model === "served" ? answer(text, 4) : 400));
});
after(async () => {
  await server.close();
  rmSync(folder, { recursive: true, force: true });
});

const rehearsed = (...more: string[]) =>
  gradus(["run", "c.gradus.yaml", "--dry-run", "--endpoint", server.url, "--prompts", "24", ...more], folder);

test("a rehearsal with a served model says what its groups would teach, without the config's own model", async () => {
  const { stdout, stderr, code } = await rehearsed("--json");
  assert.equal(code, 0, stderr);
  const report = JSON.parse(stdout);
  assert.deepEqual(
    { type: report.type, model: report.model, prompts: report.prompts, group: report.group },
    { type: "rehearsal", model: "served", prompts: 24, group: 4 },
  );
  const { all_right: right, mixed, all_wrong: wrong, unknown } = report.groups;
  assert.equal(right + mixed + wrong, 24);
  assert.equal(unknown, 0);
  assert.ok(right > 0 && mixed > 0 && wrong > 0);
  assert.equal(report.admitted, mixed);
  assert.equal(report.truncated, 0.25);
  assert.equal(report.length, 3);
  assert.deepEqual(
    report.arms.map(({ arm, success }: { arm: string; success: number }) => [arm, success]).toSorted(),
    [
      ["sums/easy", 1],
      ["sums/hard", 0],
      ["sums/middling", 0.5],
    ],
  );
  const [term] = report.terms;
  assert.equal(term.mean, (right + mixed / 2) / 24);
  const [first] = server.asked;
  assert.deepEqual(
    { n: first?.body["n"], temperature: first?.body["temperature"], max_tokens: first?.body["max_tokens"] },
    { n: 4, temperature: 0.7, max_tokens: 32 },
  );
  assert.deepEqual(
    (first!.body["messages"] as { role: string }[]).map(({ role }) => role),
    ["system", "user"],
  );
});

test("a rehearsal in words, and an endpoint that is not there", async () => {
  const { stdout } = await rehearsed();
  assert.match(stdout, /^served at http:\/\/127\.0\.0\.1:\d+\/v1: 24 prompts × 4 in /);
  assert.match(
    stdout,
    /^groups: all right \d+(?:\.\d+)? % · mixed \d+(?:\.\d+)? % · all wrong \d+(?:\.\d+)? %$/m,
  );
  assert.match(stdout, /^truncated: 25 % of responses, 3 tokens on average$/m);
  assert.match(stdout, /^the curriculum's first mix:\n {2}sums\/\w+ +\d+ % of draws, \d+ % right$/m);
  const wrong = await gradus(
    ["run", "c.gradus.yaml", "--dry-run", "--endpoint", "http://127.0.0.1:9/v1"],
    folder,
  );
  assert.equal(wrong.code, 1);
  assert.match(wrong.stderr, /The endpoint at http:\/\/127\.0\.0\.1:9\/v1\/models did not answer/);
  assert.equal((await gradus(["run", "c.gradus.yaml", "--endpoint", server.url], folder)).code, 2);
});
