import assert from "node:assert/strict";
import { readFileSync } from "node:fs";
import { resolve } from "node:path";
import { test } from "node:test";
import { testsIn } from "../../../extension/features/curriculumTests/model.ts";
import { readCurriculumTests } from "../../../server/analysis/curriculumTests/read.ts";

test("a test an item of `tests`, by its name and where it begins", () => {
  const text = [
    "# about sums",
    'config: "sums.gradus.yaml" # of the same folder',
    "tests:",
    "  # the first",
    "  - name: a weak student # 30 %",
    "    expect:",
    "      - { metric: groups/mixed, at_least: 0.6 }",
    "  - expect:",
    "      - { metric: groups/mixed, at_least: 0.6 }",
    "    name: 'in the end'",
    '  - { steps: 5, name: "in braces", expect: [{ metric: groups/mixed, at_least: 0.6 }] }',
    "  - steps: 3",
    "seeds:",
    "  - 1",
  ].join("\n");
  assert.deepEqual(testsIn(text, "/w/a.curriculum.test.yaml"), {
    config: "sums.gradus.yaml",
    tests: [
      { line: 4, name: "a weak student" },
      { line: 7, name: "in the end" },
      { line: 10, name: "in braces" },
      { line: 11, name: "test 4" },
    ],
  });
  assert.deepEqual(testsIn("tests:\n- name: a\n- name: b\n", "/w/a.curriculum.test.yaml"), {
    config: "/w/a.gradus.yaml",
    tests: [
      { line: 1, name: "a" },
      { line: 2, name: "b" },
    ],
  });
  assert.deepEqual(testsIn("", "/w/a.curriculum.test.yaml").tests, []);
});

test("what is shown of a file is what whoever runs it finds", () => {
  const file = resolve("examples/countdown/countdown.curriculum.test.yaml");
  const text = readFileSync(file, "utf8");
  const { tests } = readCurriculumTests(file, text);
  const shown = testsIn(text, file);
  assert.deepEqual(
    shown.tests,
    tests?.tests.map(({ name, place }) => ({ line: place.line, name })),
  );
  assert.equal(shown.config, tests?.config);
});
