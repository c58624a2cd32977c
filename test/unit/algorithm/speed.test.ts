/** What a step allocates: how long it takes is measured by `npm run bench -- math`. */
import assert from "node:assert/strict";
import { test } from "node:test";
import { computeStep, mathStep } from "../../../bench/mathBatch.ts";
import { median } from "../../../bench/report.ts";
import { configOf } from "../support.ts";

const configs = {
  "a clipped surrogate with a KL term": `objective: { use: clipped, aggregate: token_mean }
kl: [{ model: reference, estimator: k3, coefficient: 0.04 }]`,
  "a critic at every token": `model: { value_heads: [value] }
advantage: { baseline: critic, scale: none, whiten: tokens }
objective: { use: clipped, aggregate: token_mean, value: value_clipped }`,
  "right and wrong answers": "objective: { use: nft, aggregate: token_mean }",
  "a value at every token": `model: { value_heads: [value] }
objective: { use: oreo, aggregate: token_mean }`,
};

for (const [name, text] of Object.entries(configs))
  test(`${name}: half a million tokens without an object a token`, () => {
    const { top } = configOf(
      `tasks: [{ env: countdown }]\nreward: { terms: { right: { use: equation } } }\n${text}\n`,
    );
    const step = mathStep(top, 1024, 512);
    // Until the loops are compiled to the end, and whenever they are compiled again, every number that is not whole is an
    // object: an object a token that the code asks for is there in every round. From Node 22 on a compiler in between
    // (Maglev) keeps them so for some ten rounds.
    const rounds = Array.from({ length: 40 }, () => {
      const before = process.memoryUsage().heapUsed;
      const loss = computeStep(step);
      assert.ok(Number.isFinite(loss) && loss !== 0);
      return process.memoryUsage().heapUsed - before;
    });
    // Columns are outside of the heap; what is on it is a few objects a row, and as many for each stretch of rows. A number
    // a token that passes through the heap would be 8 MB. A collection makes it smaller, in few of the rounds.
    const grown = rounds.filter((bytes) => bytes > 0);
    assert.ok(median(grown) < 4e6, `the heap grew by ${grown.join(", ")} bytes`);
  });
