/** A value that cannot be read hides what rests on it, and nothing else. */
import assert from "node:assert/strict";
import { test } from "node:test";
import { loadConfig } from "../../../server/rules/load.ts";

const rulesOf = (text: string): string[] =>
  loadConfig("findings.gradus.yaml", { text }).diagnostics.map(({ rule }) => rule);

test("one misspelt method hides no diagnostic elsewhere", () => {
  const text = `tasks: [{ env: countdown, numbers: [3] }]
rollout: { group: 1 }
reward: { terms: { correct: { use: equatoin }, other: { use: format, pattern: x } } }
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

test("a rule that reads the value says nothing", () => {
  const start = "tasks: [{ env: countdown }]\nreward: { terms: { correct: equation } }\n";
  // The default group of 8 would not be a multiple of it.
  assert.deepEqual(rulesOf(`${start}rollout: { group: many }\nupdate: { mini_batch: 7 }\n`), ["type"]);
  // The kept weight is read with the method of its term.
  assert.deepEqual(
    rulesOf(
      `tasks: [{ env: countdown }]\nreward: { terms: { correct: equation, brief: { use: lenght, weight: 3 } } }\n`,
    ),
    ["unknown-value"],
  );
  assert.deepEqual(rulesOf(`${start}advantage: { baseline: group_men }\nrollout: { group: 1 }\n`), [
    "unknown-value",
  ]);
});

test("a rule that reads others speaks, in the stage as well as at the top", () => {
  const start = "tasks: [{ env: countdown }]\nreward: { terms: { correct: equation } }\n";
  assert.deepEqual(rulesOf(`${start}rollout: { top_p: 3 }\nupdate: { mini_batch: 7 }\n`), [
    "type",
    "mini-batch",
  ]);
  assert.deepEqual(
    rulesOf(
      `${start}stages:\n  - { name: a, steps: 9, rollout: { top_p: 3, group: 1 } }\n  - { name: b, steps: none }\n`,
    ),
    ["type", "group-size", "type"],
  );
  assert.deepEqual(rulesOf(`${start}kl: [{ model: refrence, estimator: k9 }]\nrollout: { group: 1 }\n`), [
    "unknown-value",
    "group-size",
  ]);
});

test("without its parent a config is not checked", () => {
  assert.deepEqual(rulesOf("extends: dapoo\nrollout: { group: 1 }\n"), ["extends"]);
});

test("missing and superfluous pieces are looked past", () => {
  const start = "reward: { terms: { correct: equation } }\nrollout: { group: 1 }\n";
  assert.deepEqual(rulesOf(`${start}tasks: [{ weight: 2 }]\n`), ["group-size", "missing-key"]);
  assert.deepEqual(rulesOf(`${start}tasks: 5\n`), ["group-size", "type"]);
  assert.deepEqual(rulesOf(`${start}tasks: [{ env: countdown, numbers: [3, x] }]\n`), ["group-size", "type"]);
});

test("a config that can be read is looked at once, with the same diagnostics", () => {
  const text = `tasks: [{ env: countdown }]
rollout: { group: 1 }
reward: { terms: { correct: { use: equation } } }
`;
  assert.deepEqual(rulesOf(text), ["group-size"]);
});

test("a misspelt key is the root of what is missing without it", () => {
  const start = "reward: { terms: { correct: equation } }\n";
  assert.deepEqual(rulesOf(`${start}taks: [{ env: countdown }]\n`), ["unknown-key"]);
  assert.deepEqual(
    rulesOf(`${start}tasks: [{ env: countdown }]\nrollot: { group: 1 }\nrollout: { group: 1 }\n`),
    ["unknown-key"],
  );
  assert.deepEqual(rulesOf(`${start}tasks: [{ env: countdown }]\nrollout: { group: 1, promts: 3 }\n`), [
    "group-size",
    "unknown-key",
  ]);
});
