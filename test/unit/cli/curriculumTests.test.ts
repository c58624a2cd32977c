import assert from "node:assert/strict";
import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { after, before, test } from "node:test";
import { gradus } from "../../support/cli.ts";

let folder = "";
const write = (name: string, text: string): void => writeFileSync(join(folder, name), text);
/** The second expectation fails: a curriculum draws something. */
const tests = `seeds: [3, 4]
tests:
  - name: mixed
    learner: { success: 0.3 }
    steps: 20
    expect:
      - { metric: groups/mixed, at_least: 0.1 }
      - { metric: groups/drawn, at_most: 1 }
  - { name: easy, steps: 5, expect: [{ share_of: { level: [1, 10] }, at_least: 1 }] }
`;
before(() => {
  folder = mkdtempSync(join(tmpdir(), "gradus-curriculum-tests-"));
  write(
    "s.gradus.yaml",
    "extends: sec\ntasks: [{ env: countdown }]\nreward: { terms: { score: { use: ./score.ts } } }\n",
  );
  write("score.ts", 'export const score = ({ response }) => (response === "4" ? 1 : 0);\n');
  write("score.reward.test.jsonl", '{"response": "4", "expect": {"term": "score", "at_least": 1}}\n');
  write("s.curriculum.test.yaml", tests);
});
after(() => rmSync(folder, { recursive: true, force: true }));

const failure =
  "with seed 3, `groups/drawn` is 16 over steps 11 to 20, above 1: level N is drawn most (N % of the groups, solved at N %)";
const numberless = (text: string): string =>
  text.replaceAll(/(level|\(|at) [\d.]+|\([\d.]+(?= %)/g, (found) => found.replace(/[\d.]+$/, "N"));

test("gradus test runs the tests of curricula next to those of rewards, and names what failed at its line", async () => {
  const { stdout, stderr, code } = await gradus(["test"], folder);
  assert.equal(stdout, "2 passed, 1 failed\n");
  assert.equal(
    numberless(stderr),
    `s.curriculum.test.yaml:8:9: error: mixed: ${failure} [curriculum-test]\n`,
  );
  assert.equal(code, 1);
  const json = await gradus(["test", "--json"], folder);
  const [reward, first, second, summary] = json.stdout
    .trim()
    .split("\n")
    .map((line) => JSON.parse(line));
  assert.equal(reward.type, "test");
  const of = { type: "curriculum", file: "s.curriculum.test.yaml", seeds: [3, 4] };
  const [{ message, ...failed }] = first.failures;
  assert.deepEqual(failed, { line: 7, character: 8, seed: 3, step: 20, found: 16 });
  assert.equal(numberless(message), failure);
  assert.deepEqual(
    { ...first, failures: [] },
    { ...of, line: 2, name: "mixed", steps: 20, passed: false, failures: [] },
  );
  assert.deepEqual(second, { ...of, line: 8, name: "easy", steps: 5, passed: true, failures: [] });
  assert.deepEqual(summary, { type: "summary", files: 2, passed: 2, failed: 1 });
  assert.equal((await gradus(["test", "--json"], folder)).stdout, json.stdout, "the same again");
});

test("a file that is no test of a curriculum is refused with its places, and validate says the same", async () => {
  write(
    "odd.curriculum.test.yaml",
    `config: s.gradus.yaml\n${tests.replace("metric: groups/mixed", "metrik: groups/mixed")}`,
  );
  const expected =
    /^odd\.curriculum\.test\.yaml:8:11: error: `metrik` is not a key of `tests\.0\.expect\.0`\. Did you mean `metric`\? .* \[unknown-key\]$/m;
  const run = await gradus(["test", "odd.curriculum.test.yaml"], folder);
  assert.deepEqual([run.stdout, run.code], ["0 passed, 0 failed, 1 refused\n", 1]);
  assert.match(run.stderr, expected);
  const checked = await gradus(["validate", "."], folder);
  assert.match(checked.stderr, expected);
  assert.equal(checked.stdout, "3 files: 1 error\n");
  const json = JSON.parse((await gradus(["validate", "s.curriculum.test.yaml", "--json"], folder)).stdout);
  assert.deepEqual(json.files, [
    { file: "s.curriculum.test.yaml", kind: "curriculum_test", diagnostics: [] },
  ]);
  rmSync(join(folder, "odd.curriculum.test.yaml"));
});

test("--config puts another config in the place of the file's own", async () => {
  write("other.gradus.yaml", "extends: sec\ntasks: [{ env: countdown }]\nrollout: { prompts: 1 }\n");
  const { stdout, code } = await gradus(
    ["test", "s.curriculum.test.yaml", "--config", "other.gradus.yaml"],
    folder,
  );
  assert.deepEqual([stdout, code], ["2 passed, 0 failed\n", 0]);
  rmSync(join(folder, "other.gradus.yaml"));
});

test("the example's curriculum passes its tests", async () => {
  const { stdout, stderr } = await gradus(["test", "examples/countdown"]);
  assert.deepEqual([stdout, stderr], ["3 passed, 0 failed\n", ""]);
});
