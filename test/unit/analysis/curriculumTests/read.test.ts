import assert from "node:assert/strict";
import { writeFileSync } from "node:fs";
import { join } from "node:path";
import { describe, it } from "node:test";
import { readCurriculumTests } from "../../../../server/analysis/curriculumTests/read.ts";
import { temporary } from "../../support.ts";

const folder = temporary();
writeFileSync(join(folder, "sums.gradus.yaml"), "tasks: [{ env: countdown }]\n");
const file = join(folder, "sums.curriculum.test.yaml");

const wrongIn = (text: string, name = file): string[] =>
  readCurriculumTests(name, text).diagnostics.map(
    ({ range: { start }, rule, message }) => `${start.line + 1}:${start.character + 1} ${rule} ${message}`,
  );
const withExpectation = (expect: string, more = ""): string =>
  `tests:\n  - name: a\n${more}    expect:\n      - ${expect}\n`;

describe("a file of tests of a curriculum", () => {
  it("is about the config of its name, and keeps where each test and expectation is", () => {
    const { tests, diagnostics } = readCurriculumTests(
      file,
      `seeds: [1, 2]\n${withExpectation("{ metric: groups/mixed, at_least: 0.5 }", "    learner: { success: 0.3 }\n")}`,
    );
    assert.deepEqual(diagnostics, []);
    assert.deepEqual(tests, {
      file,
      config: join(folder, "sums.gradus.yaml"),
      seeds: [1, 2],
      tests: [
        {
          name: "a",
          learner: { success: 0.3 },
          place: { line: 2, character: 4 },
          expect: [
            {
              expect: { metric: "groups/mixed", at_least: 0.5 },
              place: { line: 5, character: 8 },
            },
          ],
        },
      ],
    });
  });

  it("says of each slip where it is, and what was meant", () => {
    const cases: readonly (readonly [string, string])[] = [
      ["", "1:1 missing-key The file needs `tests`: a list, each with a `name` and what it must `expect`."],
      [
        "- a\n",
        "1:1 missing-key The file needs `tests`: a list, each with a `name` and what it must `expect`.",
      ],
      [
        `seedz: [1]\n${withExpectation("{ metric: groups/mixed, at_least: 0.5 }")}`,
        "1:1 unknown-key `seedz` is not a key of the file. Did you mean `seeds`? Allowed: `config`, `seeds` or `tests`.",
      ],
      [
        withExpectation("{ metric: groups/mixt, at_least: 0.5 }"),
        "4:19 unknown-value `tests.0.expect.0.metric` must be `groups/mixed`, `groups/all_right`, `groups/all_wrong`, `groups/zero_advantage`, `groups/success_rate`, `groups/admitted`, `groups/drawn`, `rollout/count` or `eval/pass@1`, not `groups/mixt`. Did you mean `groups/mixed`?",
      ],
      [
        withExpectation("{ metric: groups/mixed, at_least: 0.5 }", "    learner: { scenario: lader }\n"),
        "3:26 unknown-value `tests.0.learner.scenario` must be `ladder`, `mostly_infeasible`, `mostly_trivial`, `forgetting` or `rugged`, not `lader`. Did you mean `ladder`?",
      ],
      [
        withExpectation("{ metric: groups/mixed, at_least: 0.5 }", "    learner: { success: 30 }\n"),
        "3:25 type `tests.0.learner.success` must be a number above 0 and below 1, not 30.",
      ],
      [
        withExpectation("{ metric: groups/mixed, at_least: 60 }"),
        "4:43 value `tests.0.expect.0.at_least`: 60 is not between 0 and 1: for 60 % write 0.6.",
      ],
      [
        withExpectation("{ at_least: 0.5 }"),
        "4:9 value `tests.0.expect.0`: needs either `metric` or `share_of`.",
      ],
      [
        withExpectation("{ metric: groups/mixed }"),
        "4:9 value `tests.0.expect.0`: needs `at_least`, `at_most` or `beats: uniform`.",
      ],
      [
        withExpectation("{ share_of: {}, at_most: 0.5 }"),
        "4:21 value `tests.0.expect.0.share_of`: needs `success: [0, 0.01]` or `level: [9, 10]`.",
      ],
      [
        withExpectation("{ share_of: { level: [9, 3] }, at_most: 0.5 }"),
        "4:30 value `tests.0.expect.0.share_of.level`: the lower bound comes first: [3, 9].",
      ],
      [
        withExpectation("{ share_of: { level: [9, 11] }, at_most: 0.5 }"),
        "4:34 type `tests.0.expect.0.share_of.level.1` must be a whole number from 1 to 10, not 11.",
      ],
      [
        withExpectation("{ metric: groups/drawn, beats: uniform }"),
        "4:40 value `tests.0.expect.0.beats`: only a metric of which more, or less, is better can beat uniform sampling.",
      ],
      [
        withExpectation("{ metric: groups/mixed, at_least: 0.5, after: 20 }", "    steps: 20\n"),
        "5:55 value `tests.0.expect.0.after`: no step comes after 20: the test ends with step 20.",
      ],
    ];
    for (const [text, expected] of cases) assert.deepEqual(wrongIn(text), [expected]);
    assert.match(wrongIn("tests: [\n")[0]!, /^\d+:\d+ syntax /);
    assert.match(
      wrongIn("tests:\n  - nmae: a\n    expect: []\n")[0]!,
      /^2:5 unknown-key .* Did you mean `name`\?/,
    );
  });

  it("says where its config is not there, with the nearest name", () => {
    const one = withExpectation("{ metric: groups/mixed, at_least: 0.5 }");
    assert.deepEqual(wrongIn(`config: sum.gradus.yaml\n${one}`), [
      "1:9 missing-file There is no file `sum.gradus.yaml`. Did you mean `sums.gradus.yaml`? Allowed: `sums.gradus.yaml`.",
    ]);
    assert.deepEqual(wrongIn(one, join(folder, "other.curriculum.test.yaml")), [
      "1:1 missing-file There is no `other.gradus.yaml` next to the tests. Name the config that they are about: `config: sums.gradus.yaml`.",
    ]);
  });
});
