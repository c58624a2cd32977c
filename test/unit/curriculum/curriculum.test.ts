import assert from "node:assert/strict";
import { test } from "node:test";
import fc from "fast-check";
import { Curriculum, contextOf, openSources, starvation } from "../../../server/algorithm.ts";
import { randomStream } from "../../../server/random.ts";
import type { Group, Task } from "../../../server/seams.ts";
import { adaptiveRefill } from "../../../server/curriculum/adaptiveRefill.ts";
import { boltzmann } from "../../../server/curriculum/boltzmann.ts";
import { ema } from "../../../server/curriculum/ema.ts";
import { fixedRefill } from "../../../server/curriculum/fixedRefill.ts";
import { last } from "../../../server/curriculum/last.ts";
import { meanAbsAdvantage } from "../../../server/curriculum/meanAbsAdvantage.ts";
import { nonzeroVariance } from "../../../server/curriculum/nonzeroVariance.ts";
import { proportional } from "../../../server/curriculum/proportional.ts";
import { successBand } from "../../../server/curriculum/successBand.ts";
import { successRate } from "../../../server/curriculum/successRate.ts";
import { uniform } from "../../../server/curriculum/uniform.ts";
import { window } from "../../../server/curriculum/window.ts";
import { configOf, made, near } from "../support.ts";

const clock = { step: 0, stageStep: 0 };
const task: Task = { id: "t", source: "s", env: "e", prompt: "", data: {} };
const group = (rewards: number[], more: Partial<Group> = {}): Group => ({
  task,
  arm: "a",
  rewards: Float64Array.from(rewards),
  advantages: new Float64Array(),
  successes: rewards.filter((reward) => reward >= 1).length,
  lengths: new Float64Array(rewards.length),
  ...more,
});

test("EMA starts at 0, weighs the new observation by α and has its closed form", () => {
  fc.assert(
    fc.property(
      fc.double({ min: 0.01, max: 1, noNaN: true }),
      fc.array(fc.double({ min: -5, max: 5, noNaN: true }), { maxLength: 20 }),
      (alpha, values) => {
        const estimator = made(ema, { alpha });
        values.forEach((value, step) => estimator.observe("a", value, step));
        const closed = values.reduce(
          (sum, value, i) => sum + alpha * (1 - alpha) ** (values.length - 1 - i) * value,
          0,
        );
        return near(estimator.estimate("a"), closed, 1e-9) && estimator.estimate("other") === 0;
      },
    ),
  );
});

test("arms that are not drawn stay, or decay when asked to", () => {
  for (const [decay_unsampled, expected] of [
    [false, 1],
    [true, 0.5],
  ] as const) {
    const estimator = made(ema, { alpha: 0.5, decay_unsampled });
    estimator.observe("a", 2, 0);
    estimator.advance?.(["a", "b"], 0);
    estimator.observe("b", 4, 1);
    estimator.advance?.(["a", "b"], 1);
    assert.equal(estimator.estimate("a"), expected);
    assert.equal(estimator.estimate("b"), 2);
  }
});

test("window and last know nothing at first, then the mean of what is kept; saved state is exact", () => {
  for (const [estimator, expected] of [
    [made(window, { size: 2 }), 2.5],
    [made(last, {}), 3],
  ] as const) {
    assert.equal(estimator.estimate("a"), undefined);
    [1, 2, 3].forEach((value, step) => estimator.observe("a", value, step));
    assert.equal(estimator.estimate("a"), expected);
    const copy = made(window, { size: 2 });
    copy.load(JSON.parse(JSON.stringify(estimator.save())));
    assert.equal(copy.estimate("a"), expected);
  }
});

test("Boltzmann draws with softmax probabilities (chi-square over 20,000 draws)", () => {
  const estimates = new Map([
    ["a", 0.1],
    ["b", 0.5],
    ["c", 0.9],
  ]);
  const sampler = made(boltzmann, { temperature: 0.4 });
  const p = sampler.probabilities(estimates, clock);
  const sum = [...estimates.values()].reduce((total, q) => total + Math.exp(q / 0.4), 0);
  for (const [arm, q] of estimates) assert.ok(near(p.get(arm), Math.exp(q / 0.4) / sum));
  const n = 20_000;
  const drawn = sampler.draw(estimates, n, randomStream(3, "boltzmann"), clock);
  const chi = [...p].reduce(
    (total, [arm, share]) =>
      total + (drawn.filter((other) => other === arm).length - n * share) ** 2 / (n * share),
    0,
  );
  assert.ok(chi < 13.8, `χ² = ${chi}, 0.999 quantile with 2 degrees of freedom`);
});

test("Boltzmann stands huge estimates, a falling temperature and unknown arms", () => {
  const sampler = made(boltzmann, { temperature: { schedule: "linear", from: 1, to: 0, over: 10 } });
  assert.ok(
    near(
      sampler
        .probabilities(
          new Map([
            ["a", 1e6],
            ["b", 1e6],
          ]),
          clock,
        )
        .get("a"),
      0.5,
    ),
  );
  assert.deepEqual(
    [
      ...sampler
        .probabilities(
          new Map([
            ["a", 1],
            ["b", 2],
          ]),
          { step: 10, stageStep: 10 },
        )
        .values(),
    ],
    [0, 1],
  );
  assert.deepEqual(
    [
      ...sampler
        .probabilities(
          new Map([
            ["a", 3],
            ["b", undefined],
          ]),
          clock,
        )
        .values(),
    ],
    [0.5, 0.5],
  );
});

test("proportional keeps its floor, and sums to 1", () => {
  const p = made(proportional, { floor: 0.2 }).probabilities(
    new Map([
      ["a", 3],
      ["b", 1],
      ["c", -1],
    ]),
    clock,
  );
  [0.2 / 3 + 0.6, 0.2 / 3 + 0.2, 0.2 / 3].forEach((value, i) => assert.ok(near([...p.values()][i], value)));
  assert.deepEqual(
    [
      ...made(uniform, {})
        .probabilities(
          new Map([
            ["a", 3],
            ["b", undefined],
          ]),
          clock,
        )
        .values(),
    ],
    [0.5, 0.5],
  );
});

test("signals: mean absolute advantage and success rate; nothing known is NaN", () => {
  const groups = [group([1, 0, 0, 1], { advantages: Float64Array.of(1, -2, -1, 2) }), group([])];
  assert.deepEqual([...made(meanAbsAdvantage, {})(groups)], [1.5, Number.NaN]);
  assert.deepEqual([...made(successRate, {})(groups)], [0.5, Number.NaN]);
});

test("the success band includes its ends unless told otherwise, and DAPO's filter is the open unit band", () => {
  const rate = (successes: number): Group =>
    group(Array.from({ length: 10 }, (_, i) => (i < successes ? 1 : 0)));
  const admitted = (params: { low: number; high: number; inclusive?: boolean }): number[] => {
    const admission = made(successBand, params);
    return Array.from({ length: 11 }, (_, i) => i).filter((i) => admission(rate(i)).admitted);
  };
  assert.deepEqual(admitted({ low: 0.2, high: 0.4 }), [2, 3, 4]);
  assert.deepEqual(admitted({ low: 0.2, high: 0.4, inclusive: false }), [3]);
  assert.deepEqual(admitted({ low: 0, high: 1, inclusive: false }), [1, 2, 3, 4, 5, 6, 7, 8, 9]);
  assert.throws(() => made(successBand, { low: 0.5, high: 0.5 }), /must be below/);
  const verdict = made(successBand, {})(rate(10));
  assert.ok(!verdict.admitted && verdict.reason.includes("success rate 1 is above the band 0.2 to 0.8"));
});

test("nonzero variance rejects equal rewards and groups without any", () => {
  const admission = made(nonzeroVariance, {});
  assert.equal(admission(group([0.5, 0.5, 0.5])).admitted, false);
  assert.equal(admission(group([0.5, 0.5, 0.4])).admitted, true);
  assert.equal(admission(group([])).admitted, false);
});

test("refills end: fixed after its rounds, adaptive at its bound even when nothing is ever admitted", () => {
  const fixed = made(fixedRefill, { rounds: 2 });
  assert.deepEqual(
    [0, 1, 2].map((round) => fixed.more({ wanted: 8, admitted: 3, drawn: 8, round })),
    [5, 5, 0],
  );
  const adaptive = made(adaptiveRefill, { factor: 4 });
  assert.equal(adaptive.more({ wanted: 8, admitted: 4, drawn: 8, round: 0 }), 8);
  assert.equal(adaptive.more({ wanted: 8, admitted: 8, drawn: 8, round: 0 }), 0);
  let [drawn, round] = [8, 0];
  for (
    let more = adaptive.more({ wanted: 8, admitted: 0, drawn, round });
    more > 0;
    more = adaptive.more({ wanted: 8, admitted: 0, drawn, round: ++round })
  )
    drawn += more;
  assert.equal(drawn, 32);
  const told = starvation(
    [group([0, 0]), group([0, 0]), group([1, 1])],
    [0, 1, 2].map(() => ({ admitted: false, reason: "" })),
    2,
  );
  assert.match(
    told?.message ?? "",
    /kept 0 of 3 groups, 2 were wanted; success rates seen: 0 \(2×\), 1 \(1×\)/,
  );
  const used = starvation([group([1, 0])], [{ admitted: true }], 2);
  assert.match(used?.message ?? "", /the task sources gave 1 groups, 2 were wanted/);
  assert.equal(starvation([group([1, 0])], [{ admitted: true }], 1), null);
});

const config = (
  curriculum: string,
  tasks = "[{ env: countdown, numbers: [3, 4] }, { env: arithmetic, digits: [2], weight: 3 }]",
): Curriculum => {
  const { top } = configOf(
    `tasks: ${tasks}\nreward: { terms: { right: { use: format, tags: [a] } } }\ncurriculum: ${curriculum}\n`,
  );
  const context = contextOf(top, { random: randomStream(1, "curriculum") });
  return new Curriculum(top.curriculum, openSources(top.tasks, context), context);
};

test("arms are named by task and difficulty, and each drawn task belongs to its arm", () => {
  for (const [arms, names] of [
    ["difficulty", ["countdown/3", "countdown/4", "arithmetic/2"]],
    ["task", ["countdown", "arithmetic"]],
    ["none", ["all"]],
  ] as const) {
    const curriculum = config(`{ arms: ${arms}, sampler: uniform }`);
    assert.deepEqual(curriculum.arms, names);
    const drawn = curriculum.draw(50, randomStream(5, "draw"), clock);
    assert.equal(drawn.length, 50);
    for (const { arm, task: one } of drawn) assert.equal(curriculum.armOf(one), arm);
  }
});

test("task weights set the uniform sampler's shares, within one undivided arm too; Boltzmann ignores them", () => {
  assert.deepEqual(
    [...config("{ arms: task, sampler: uniform }").probabilities(clock).values()],
    [0.25, 0.75],
  );
  assert.deepEqual(
    [...config("{ arms: task, sampler: boltzmann }").probabilities(clock).values()],
    [0.5, 0.5],
  );
  const drawn = config("{ arms: none, sampler: uniform }").draw(400, randomStream(6, "draw"), clock);
  const share = drawn.filter(({ task: one }) => one.source === "arithmetic").length / 400;
  assert.ok(Math.abs(share - 0.75) < 4 * Math.sqrt((0.75 * 0.25) / 400), String(share));
});

test("one update per arm and step, on the mean over all its rollouts; saved state continues exactly", () => {
  const curriculum = config(
    "{ arms: difficulty, signal: mean_abs_advantage, estimator: { use: ema, alpha: 0.5 }, sampler: { use: boltzmann, temperature: 0.4 } }",
  );
  const two = group([1, 0], { arm: "countdown/3", advantages: Float64Array.of(1, -1) });
  const four = group([1, 0, 0, 0], { arm: "countdown/3", advantages: Float64Array.of(0.4, -0.4, 0.4, -0.4) });
  curriculum.observe([two, four, group([], { arm: "countdown/4" })], 0);
  assert.ok(near(curriculum.estimates().get("countdown/3"), 0.5 * ((2 * 1 + 4 * 0.4) / 6)));
  assert.equal(curriculum.estimates().get("countdown/4"), 0);
  const other = config(
    "{ arms: difficulty, signal: mean_abs_advantage, estimator: { use: ema, alpha: 0.5 }, sampler: { use: boltzmann, temperature: 0.4 } }",
  );
  other.load(JSON.parse(JSON.stringify(curriculum.save())));
  assert.deepEqual(other.draw(20, randomStream(8), clock), curriculum.draw(20, randomStream(8), clock));
});
