import assert from "node:assert/strict";
import { test } from "node:test";
import { gains } from "../../../../server/analysis/evaluation/gains.ts";
import { askedBy, probed, probeReport } from "../../../../server/analysis/evaluation/probes.ts";
import type { EvaluatedTask } from "../../../../server/analysis/evaluation/types.ts";
import { randomStream } from "../../../../server/lib/random.ts";
import { task } from "../../../support/batch.ts";
import { near } from "../../support.ts";

const random = randomStream(1, "gains");
const seen = (right: number, n = 4, greedy?: boolean): EvaluatedTask => ({
  arm: "a",
  samples: Array.from({ length: n }, (_, i) => i < right),
  greedy,
});

test("the gain in pass@1 is what was within reach and what was not", () => {
  // Solved once in four, never, always; now three times, once, never.
  const found = gains([seen(3), seen(1), seen(0)], [seen(1), seen(0), seen(4)], 4, random)!;
  assert.ok(near(found.self_distillation.value, (2 / 4 - 1) / 3));
  assert.ok(near(found.capability.value, 1 / 4 / 3));
  assert.ok(near(found.total.value, found.self_distillation.value + found.capability.value));
  assert.deepEqual(
    { tasks: found.tasks, gained: found.gained, lost: found.lost },
    { tasks: 3, gained: 1, lost: 1 },
  );
  assert.ok(found.total.low <= found.total.value && found.total.value <= found.total.high);
});

test("with more samples than k, a task counts by the chance that k of them solve it", () => {
  // One right of four: two samples find it with chance 1/2.
  const found = gains([seen(3)], [seen(1)], 2, random)!;
  assert.ok(near(found.self_distillation.value, 0.25) && near(found.capability.value, 0.25));
  assert.equal(gains([seen(1, 1)], [seen(1, 4)], 2, random), undefined);
});

test("a probe supplies a text or asks the parts, and is compared on the same tasks", () => {
  const tasks = [
    task("a", {
      prompt: "A?",
      data: {
        plan: "first x",
        parts: [
          { prompt: "A1?", answer: 1 },
          { prompt: "A2?", answer: "2" },
        ],
      },
    }),
    task("b", { prompt: "B?", data: {} }),
    task("c", { prompt: "C?", data: { plan: "then y", parts: [{ prompt: "no answer" }] } }),
  ];
  const plan = { name: "Plan", field: "plan" };
  assert.deepEqual(
    tasks.map((one) => askedBy(plan, one).map(({ prompt }) => prompt)),
    [["A?\nPlan: first x\n"], [], ["C?\nPlan: then y\n"]],
  );
  const parts = askedBy({ name: "parts", field: "parts" }, tasks[0]!);
  assert.deepEqual(
    parts.map(({ prompt, answer }) => [prompt, answer]),
    [
      ["A1?", "1"],
      ["A2?", "2"],
    ],
  );
  assert.deepEqual(askedBy({ name: "parts", field: "parts" }, tasks[2]!), []);
  const plain = [seen(1, 4, false), seen(4, 4, true), seen(0, 4, false)];
  const found = probed(plan, tasks);
  assert.deepEqual(
    found.map(({ place }) => place),
    [0, 2],
  );
  const report = probeReport(plan, found, [seen(3, 4, true), seen(2, 4, false)], plain, [1], random);
  assert.equal(report.tasks, 2);
  assert.ok(near(report.metrics["pass@1"]!.with, 5 / 8) && near(report.metrics["pass@1"]!.without, 1 / 8));
  assert.ok(near(report.metrics["greedy"]!.difference, 0.5));
  const whole = probed({ name: "parts", field: "parts" }, tasks);
  const divided = probeReport(
    { name: "parts", field: "parts" },
    whole,
    [seen(4), seen(2)],
    plain,
    [1],
    random,
  );
  assert.deepEqual({ tasks: divided.tasks, asked: divided.asked }, { tasks: 1, asked: 2 });
  assert.ok(near(divided.metrics["pass@1"]!.with, 0.75));
});
