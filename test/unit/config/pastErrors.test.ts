import assert from "node:assert/strict";
import { test } from "node:test";
import { allFindings } from "../../../server/config/index.ts";

const rulesOf = (text: string): string[] =>
  allFindings("findings.gradus.yaml", { text }).map(({ rule }) => rule);

test("one misspelt method hides no finding elsewhere", () => {
  const text = `tasks: [{ env: countdown, numbers: [3] }]
rollout: { group: 1 }
reward: { terms: { correct: { use: equatoin }, other: { use: exact_match } } }
objective: { use: cliped }
evaluation: { pass_at: [16], samples: 8 }
`;
  assert.deepEqual(rulesOf(text), ["group-size", "unknown-value", "unknown-value", "pass-at"]);
});

test("what was put aside is not complained about twice", () => {
  const text = `tasks: [{ env: countdwn }]
reward: { terms: { correct: { use: equation } } }
`;
  assert.deepEqual(rulesOf(text), ["unknown-value"]);
});

test("a config that can be read is looked at once, with the same findings", () => {
  const text = `tasks: [{ env: countdown }]
rollout: { group: 1 }
reward: { terms: { correct: { use: equation } } }
`;
  assert.deepEqual(rulesOf(text), ["group-size"]);
});
