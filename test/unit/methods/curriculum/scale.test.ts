/** A pool of a million tasks: bytes for each. The time of a step is a row of `npm run bench -- arms`. */
import assert from "node:assert/strict";
import { test } from "node:test";
import { some } from "../../../support/thorough.ts";
import { curriculumOfMany, held, trainedStep } from "./largePool.ts";

const size = 1_000_000;

const curricula = [
  "{ signal: success_rate, estimator: beta, sampler: thompson }",
  "{ signal: success_rate, estimator: beta, sampler: nearest }",
  "{ signal: success_rate, estimator: beta, sampler: band }",
  "{ sampler: uniform }",
  "{ estimator: ema, sampler: boltzmann }",
  "{ estimator: { use: ema, decay_unsampled: true }, sampler: boltzmann }",
  "{ estimator: ema, sampler: ucb_softmax }",
  "{ estimator: { use: static, by: field, field: score }, sampler: ucb_softmax }",
  "{ signal: failure_ratio, estimator: last, sampler: proportional }",
  "{ signal: success_rate, estimator: beta, sampler: sorted }",
  "{ signal: success_rate, estimator: rasch, sampler: sorted }",
  "{ signal: success_rate, estimator: pooled_beta, sampler: sorted }",
  "{ signal: success_rate, estimator: pooled_beta, sampler: boltzmann }",
  "{ signal: success_rate, estimator: ema, sampler: tiers }",
  "{ signal: success_rate, estimator: ema, sampler: { use: prerequisites, requires: { countdown/7: [countdown/1] } } }",
  "{ signal: success_rate, estimator: beta, sampler: expected_improvement }",
  "{ estimator: ema, sampler: { use: self_repellent, temperature: 0.5 } }",
  "{ estimator: last, sampler: greedy }",
  "{ estimator: { use: static, by: field, field: score }, sampler: gaussian_window }",
  "{ estimator: { use: static, by: field, field: score }, sampler: boltzmann }",
];
for (const text of some(curricula, 4))
  test(`a million tasks, ${text}`, async () => {
    const before = held();
    const curriculum = curriculumOfMany(text.replace("{", "{ arms: prompt,"), size);
    for (let step = 0; step < 10; step++) await trainedStep(curriculum, step);
    const arrays = Object.values(curriculum.save().arrays ?? {});
    const bytes = arrays.reduce((sum, array) => sum + array.byteLength, 0);
    assert.ok(bytes < 60 * size, `${bytes / size} bytes saved for each task`);
    const each = (held() - before) / size;
    assert.ok(each < 100, `${each.toFixed(0)} bytes held for each task`);
  });
