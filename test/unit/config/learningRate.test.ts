import assert from "node:assert/strict";
import { readFileSync } from "node:fs";
import { test } from "node:test";
import { z } from "zod";
import { laidOut, learningRateSchedule, rateAt } from "../../../server/core/blocks/learningRate.ts";

const cases = z
  .object({
    schedules: z.array(
      z.looseObject({
        name: z.string(),
        steps: z.number(),
        warmup: z.number(),
        values: z.array(z.number()),
        min_lr_rate: z.number().optional(),
        min_lr_ratio: z.number().optional(),
        timescale: z.number().optional(),
        num_decay_steps: z.number().optional(),
        decay_type: z.enum(["linear", "cosine", "1-sqrt"]).optional(),
      }),
    ),
  })
  .parse(JSON.parse(readFileSync("test/fixtures/optimizers/steps.json", "utf8"))).schedules;

/** transformers' names for ours. */
const shapes = {
  constant: "constant",
  linear: "linear",
  cosine: "cosine",
  cosine_with_min_lr: "cosine",
  inverse_sqrt: "inverse_sqrt",
  warmup_stable_decay: "wsd",
} as const;
const known = z.enum([
  "constant",
  "linear",
  "cosine",
  "cosine_with_min_lr",
  "inverse_sqrt",
  "warmup_stable_decay",
]);

test("courses of the learning rate are transformers', from the end of the warm-up on", () => {
  assert.ok(cases.length >= 10);
  for (const one of cases) {
    const written = learningRateSchedule.parse({
      shape: shapes[known.parse(one.name)],
      floor: one.min_lr_rate ?? one.min_lr_ratio ?? 0,
      ...(one.num_decay_steps === undefined ? {} : { decay: one.num_decay_steps }),
      ...(one.decay_type === undefined ? {} : { decay_shape: one.decay_type }),
      ...(one.timescale === undefined ? {} : { timescale: one.timescale }),
    });
    assert.ok(typeof written !== "object" || !("schedule" in written));
    for (const stage of [false, true]) {
      const schedule = laidOut(written, { steps: one.steps, warmup: one.warmup, stage });
      one.values.forEach((wanted, step) => {
        if (step < one.warmup) return;
        const clock = stage ? { step: 1000, stageStep: step } : { step, stageStep: 1000 };
        const found = rateAt(schedule, clock);
        assert.ok(Math.abs(found - wanted) < 1e-8, `${JSON.stringify(one)} at ${step}: ${found}`);
      });
    }
  }
});

test("words name their shapes; a warm-up longer than the run leaves a step", () => {
  const span = { steps: 40, warmup: 0, stage: false };
  assert.deepEqual(laidOut("wsd", span), {
    shape: "wsd",
    stable: 36,
    decay: 4,
    decay_shape: "linear",
    floor: 0,
    start: 0,
  });
  assert.equal(laidOut(0.5, span), 0.5);
  assert.equal(rateAt(laidOut("inverse_sqrt", span), { step: 30_000, stageStep: 0 }), 0.5);
  assert.equal(rateAt(laidOut("linear", { ...span, steps: 3, warmup: 90 }), { step: 2, stageStep: 2 }), 1);
  assert.equal(learningRateSchedule.safeParse({ shape: "linear", floor: 2 }).success, false);
});
