/** RLSD's factor: by hand, and against its definition where the advantage turns it over. */
import assert from "node:assert/strict";
import { test } from "node:test";
import { evidence } from "../../../../server/methods/advantage/weights/evidence.ts";
import type { Clock } from "../../../../server/core/basics.ts";
import type { Stats } from "../../../../server/core/policy.ts";
import { batchOf, made, near, row } from "../../support.ts";

const clock: Clock = { step: 0, stageStep: 0 };
const shown = { solution: "x" };
const batch = batchOf([
  row("a", 0, { tokens: [1, 1, 1], shown }),
  row("a", 1, { tokens: [1, 1], shown }),
  row("b", 0, { tokens: [1] }),
]);
const stats: Stats = {
  logp: Float64Array.from([0.5, 0.5, 0.5, 0.5, 0.5, 0.5], Math.log),
  "logp:teacher@solution": Float64Array.from([0.55, 0.9, 0.1, 0.55, 0.9, 0.9], Math.log),
};
const advantages = Float64Array.of(2, 2, 2, -1, -1, 1);

test("the teacher's ratio within 1 ± ε, turned over where the advantage is negative, and mixed by λ", () => {
  const whole = made(evidence, { model: "teacher", mix: 1 });
  const wanted = [1.1, 1.2, 0.8, 1 / 1.1, 0.8, 1];
  whole(batch, stats, advantages, clock).forEach((weight, t) =>
    assert.ok(near(weight, wanted[t]!), `${t}: ${weight}`),
  );
  const half = made(evidence, { model: "teacher", mix: 0.5 });
  half(batch, stats, advantages, clock).forEach((weight, t) => assert.ok(near(weight, 0.5 + wanted[t]! / 2)));
});

test("λ falls to 0, where every token counts alike; the direction is never the teacher's", () => {
  const falling = made(evidence, {
    model: "teacher",
    mix: { schedule: "linear", from: 0.5, to: 0, over: 50 },
  });
  const late = falling(batch, stats, advantages, { step: 50, stageStep: 50 });
  assert.ok(late.every((weight) => weight === 1));
  const early = falling(batch, stats, advantages, { step: 25, stageStep: 25 });
  assert.ok(near(early[1], 0.75 + 0.25 * 1.2));
  assert.ok(
    made(evidence, { model: "teacher", clip: 0.9, mix: 1 })(batch, stats, advantages, clock).every(
      (w) => w > 0,
    ),
  );
});

test("it asks for the teacher's log-probs, and says what is missing", () => {
  const weight = made(evidence, { model: "teacher" });
  assert.deepEqual(weight.models, ["teacher@solution"]);
  assert.throws(() => weight(batch, { logp: stats.logp! }, advantages, clock), /logp:teacher@solution/);
});
