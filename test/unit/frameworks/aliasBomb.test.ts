/** A kilobyte of aliases that stand for millions of values, in another trainer's file: said once, followed never. */
import assert from "node:assert/strict";
import { it } from "node:test";
import { checkFrameworkDocument, readFrameworkDocument } from "../../../server/frameworks/check/index.ts";

/** Ten levels of ten. */
const bomb = Array.from({ length: 10 }, (_, level) =>
  level === 0
    ? "a0: &a0 [x, x]"
    : `a${level}: &a${level} [${Array(10)
        .fill(`*a${level - 1}`)
        .join(", ")}]`,
).join("\n");

const files: readonly [framework: string, text: string][] = [
  [
    "verl",
    `actor_rollout_ref:\n  actor: { ppo_mini_batch_size: 64 }\n  rollout: { n: 8 }\nalgorithm: { adv_estimator: grpo }\n${bomb}\n`,
  ],
  ["trl", `# trl grpo --config bomb.yaml\nnum_generations: 8\nmax_completion_length: 64\n${bomb}\n`],
];
for (const [framework, text] of files)
  it(`is reported of a file of ${framework}, at the alias with which it is too much`, () => {
    const document = readFrameworkDocument("bomb.yaml", text);
    assert.ok(document);
    assert.equal(document.framework, framework);
    const [found, ...others] = checkFrameworkDocument(document);
    assert.deepEqual(others, []);
    assert.equal(found?.rule, "foreign-syntax");
    assert.equal(found.severity, "error");
    assert.match(found.message, /^The aliases expand to more than 10,000 values/);
    assert.match(text.split("\n")[found.range.start.line] ?? "", /\*a[2-4]/);
  });

it("leaves a file alone that is none of theirs", () => {
  assert.equal(readFrameworkDocument("bomb.yaml", `services: { web: 1 }\n${bomb}\n`), undefined);
});
