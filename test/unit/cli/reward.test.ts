import assert from "node:assert/strict";
import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { after, before, test } from "node:test";
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
      "  reward: 0.41667 → 0.5 (+0.083333); 4 changed, 2 sign flips, 0 errors",
      "  correct: 0.33333 → 0.33333 (+0); 4 changed, 0 errors",
      "  tidy: 0.16667 → 0.33333 (+0.16667); 3 changed, 0 errors",
      "  groups whose rewards differ now but did not before (signal gained): 1 (0/b)",
      "  groups whose rewards differed before but do not now (signal lost): 1 (0/c)",
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
  assert.deepEqual(lines.at(-1).total, { mean: 0.5, before: 2.5 / 6, changed: 4, errors: 0, flips: 2 });
  assert.deepEqual(lines.at(-1).groups, { total: 3, gained: ["0/b"], lost: ["0/c"] });
});
