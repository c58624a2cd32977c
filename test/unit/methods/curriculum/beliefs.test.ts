/** Estimators against closed forms and simulated arms. */
import assert from "node:assert/strict";
import { join } from "node:path";
import { writeFileSync } from "node:fs";
import { test } from "node:test";
import { NamedArms } from "../../../../server/methods/curriculum/armSet.ts";
import { betaRestart } from "../../../../server/methods/curriculum/estimators/betaRestart.ts";
import { fixed } from "../../../../server/methods/curriculum/estimators/fixed.ts";
import {
  gaussianProcess,
  quadratic,
} from "../../../../server/methods/curriculum/estimators/mixtureModels.ts";
import { passRate } from "../../../../server/methods/curriculum/estimators/passRate.ts";
import { pooledBeta } from "../../../../server/methods/curriculum/estimators/pooledBeta.ts";
import { rasch } from "../../../../server/methods/curriculum/estimators/rasch.ts";
import { reestimateBlock } from "../../../../server/methods/curriculum/estimators/reestimateBlock.ts";
import { surrogate } from "../../../../server/methods/curriculum/estimators/surrogate.ts";
import { windows } from "../../../../server/methods/curriculum/estimators/windows.ts";
import { sorted } from "../../../../server/methods/curriculum/samplers/sorted.ts";
import { beta as drawBeta } from "../../../../server/lib/distributions.ts";
import type { Estimator } from "../../../../server/core/slots/curriculum.ts";
import { randomStream } from "../../../../server/lib/random.ts";
import { made, near, temporary } from "../../support.ts";
import { clock, poolOf, observed, task, sampling } from "./support.ts";

const named = (size: number): NamedArms => new NamedArms(Array.from({ length: size }, (_, i) => `s/${i}`));

test("two adjacent windows compare the last n steps with the n before", () => {
  for (const [compare, expected] of [
    ["ratio", 7 / 3],
    ["difference", 4],
    ["absolute", 4],
    // RECAP: the last window is 6 and 8, so its deviation is 1.
    ["ratio_and_noise", 7 / 3 + 1 / (7 + 3)],
  ] as const) {
    const estimator = made(windows, { size: 2, compare });
    [9, 2, 4, 6].forEach((value) => estimator.observe(observed(0, value), 0));
    assert.notEqual(estimator.estimate(0), expected, "the window has one step too many");
    estimator.observe(observed(0, 8), 0);
    assert.ok(near(estimator.estimate(0), expected), compare);
    assert.equal(estimator.estimate(1), Number.NaN);
  }
});

test("one ability, many difficulties: rates are recovered, and arms that are not drawn rise with the others", () => {
  const estimator = made(rasch, { prior: 0 });
  const rates = [0.2, 0.5, 0.8];
  for (let step = 0; step < 400; step++) {
    rates.forEach((rate, arm) => estimator.observe({ arm, mean: rate, values: [], rollouts: 8 }, step));
    estimator.endStep?.();
  }
  rates.forEach((rate, arm) => assert.ok(Math.abs(estimator.estimate(arm) - rate) < 0.01));
  const before = estimator.estimate(2);
  for (let step = 0; step < 20; step++) {
    estimator.observe({ arm: 0, mean: 0.9, values: [], rollouts: 8 }, step);
    estimator.endStep?.();
  }
  assert.ok(estimator.estimate(2) > before);
});

test("a change of an arm's rate restarts its posterior; without one it is the plain posterior", () => {
  const estimator = made(betaRestart, {});
  let [successes, failures] = [1, 1];
  for (let step = 0; step < 40; step++) {
    estimator.observe(observed(0, 1, 1, 1, 0), step);
    successes += 3;
    failures += 1;
  }
  assert.ok(
    near(estimator.estimate(0), successes / (successes + failures)),
    "a steady arm is never restarted",
  );
  for (let step = 0; step < 5; step++) estimator.observe(observed(0, 0, 0, 0, 1), step);
  assert.ok(estimator.estimate(0) < 0.35, `${estimator.estimate(0)} forgets what was before`);
});

test("a pass rate is tried for every arm once, some at a time, and stays", () => {
  const estimator = made(passRate, { samples: 4, at_once: 3, temperature: 0 });
  const asked: number[] = [];
  for (
    let wish = estimator.pilots?.next(named(5), clock);
    wish;
    wish = estimator.pilots?.next(named(5), clock)
  ) {
    assert.equal(wish.samples, 4);
    assert.equal(wish.temperature, 0);
    asked.push(...wish.arms);
    // The rollouts of arm 4 fail: it is not asked for ever.
    estimator.pilots?.observe(
      wish.arms.filter((arm) => arm < 4).map((arm) => observed(arm, arm / 4)),
      clock,
    );
  }
  assert.deepEqual(asked, [0, 1, 2, 3, 4]);
  estimator.observe(observed(1, 1), 0);
  assert.deepEqual(
    [0, 1, 2, 3, 4].map((arm) => estimator.estimate(arm)),
    [0, 0.25, 0.5, 0.75, Number.NaN],
  );
});

test("ADCL: blocks from easy to hard, and only the next block is measured again, before it begins", () => {
  const rates = [0.9, 0.1, 0.7, 0.3];
  let now = rates;
  const estimator = made(reestimateBlock, { blocks: 2 });
  const sampler = sampling(sorted, {});
  const probes: number[][] = [];
  const probe = (): void => {
    for (
      let wish = estimator.pilots?.next(named(4), clock);
      wish;
      wish = estimator.pilots?.next(named(4), clock)
    ) {
      probes.push([...wish.arms]);
      estimator.pilots?.observe(
        wish.arms.map((arm) => observed(arm, now[arm]!)),
        clock,
      );
    }
  };
  const step = (): number => {
    probe();
    const values = rates.map((_, arm) => estimator.estimate(arm));
    const [arm] = sampler.draw(poolOf(values, { once: true }), 1, randomStream(1), clock, []);
    estimator.observe(observed(arm!, now[arm!]!), 0);
    estimator.endStep?.();
    return arm!;
  };
  const first = [step(), step()];
  now = [0.9, 0.6, 0.7, 0.5];
  assert.deepEqual(first, [0, 2]);
  assert.deepEqual([step(), step()], [1, 3], "what was hardest has become easier than its neighbour");
  assert.deepEqual(probes, [
    [0, 1, 2, 3],
    [1, 3],
  ]);
  assert.equal(step(), 0, "the next pass begins with the first block");
  assert.deepEqual(probes.at(-1), [0, 2]);
});

test("static numbers come from fields, lengths and arms' values; an arm without one is named", () => {
  const tasks = [2, 5].map((n) => ({
    ...task,
    id: String(n),
    prompt: "x".repeat(n),
    solution: "a\n\nb",
    data: { hard: n },
  }));
  const arms = Object.assign(named(2), { task: (arm: number) => tasks[arm]! });
  const values = (estimator: Estimator): number[] => {
    estimator.addArms?.(arms);
    return [0, 1].map((arm) => estimator.estimate(arm));
  };
  assert.deepEqual(values(made(fixed, { by: "field", field: "hard" })), [2, 5]);
  assert.deepEqual(values(made(fixed, { by: "prompt_length" })), [2, 5]);
  assert.deepEqual(values(made(fixed, { by: "steps" })), [2, 2]);
  assert.deepEqual(values(made(fixed, {})), [0, 1]);
  assert.throws(
    () => made(fixed, { by: "field", field: "none" }).addArms?.(arms),
    /s\/0 has no number in its field none/,
  );
  assert.throws(() => made(fixed, {}).addArms?.(new NamedArms(["a/easy"])), /a\/easy has no value/);
});

test("a surrogate finds the maximum of the quadratic that made the pilots' scores", () => {
  const best = [0.5, 0.3, 0.2];
  const score = (w: readonly number[]): number => 1 - w.reduce((sum, x, i) => sum + (x - best[i]!) ** 2, 0);
  const designs = [
    [1, 0, 0],
    [0, 1, 0],
    [0, 0, 1],
    [0.5, 0.5, 0],
    [0.5, 0, 0.5],
    [0, 0.5, 0.5],
    [0.4, 0.3, 0.3],
  ];
  const pilots = designs.map((shares) => ({ shares, score: score(shares) }));
  const fit = quadratic(pilots, 1e-9);
  assert.ok(near(fit([0.2, 0.2, 0.6]).mean, score([0.2, 0.2, 0.6]), 1e-6), "exact between the pilots");
  const process = gaussianProcess(pilots, { scale: 0.3, noise: 1e-6 });
  pilots.forEach(({ shares, score: own }) => {
    assert.ok(Math.abs(process(shares).mean - own) < 1e-3);
    assert.ok(process(shares).spread < 0.01, "it is sure of what was tried");
  });
  assert.ok(process([0.1, 0.2, 0.7]).spread > 0.01);
  const file = join(temporary(), "pilots.jsonl");
  const lines = designs.map((w) =>
    JSON.stringify({ weights: { a: w[0], b: w[1], c: w[2] }, score: score(w) }),
  );
  writeFileSync(file, lines.join("\n"));
  for (const model of ["quadratic", "gaussian_process"] as const) {
    const estimator = made(surrogate, { pilots: file, model });
    estimator.addArms?.(new NamedArms(["a", "b", "c"]));
    best.forEach((share, arm) =>
      assert.ok(Math.abs(estimator.estimate(arm) - share) < (model === "quadratic" ? 0.01 : 0.1), model),
    );
  }
  assert.throws(
    () => made(surrogate, { pilots: file }).addArms?.(new NamedArms(["a", "b"])),
    /an unknown arm: c/,
  );
});

test("arms share a prior: its moments are found again, and an arm never drawn is believed to be like the others", () => {
  const random = randomStream("arms");
  const estimator = made(pooledBeta, {});
  assert.equal(estimator.estimate(0), 0.5, "nothing is known of any arm");
  const [arms, rollouts] = [4000, 16];
  for (let arm = 0; arm < arms; arm++) {
    const rate = drawBeta(2, 6, random.fork("rate", arm));
    const outcomes = Array.from({ length: rollouts }, (_, i) =>
      Number(random.fork("rollout", arm, i).next() < rate),
    );
    estimator.observe(observed(arm, ...outcomes), 0);
  }
  assert.equal(estimator.estimate(arms), 0.5, "the prior is of the step before");
  estimator.endStep?.();
  assert.notEqual(estimator.fast?.changes, "observed", "all estimates change with the prior");
  const [mean, spread] = [estimator.estimate(arms), estimator.posterior?.spread(arms) ?? 0];
  assert.ok(Math.abs(mean - 0.25) < 0.01, `${mean}: the mean of Beta(2, 6) is 0.25`);
  const worth = (mean * (1 - mean)) / spread ** 2 - 1;
  assert.ok(Math.abs(worth - 8) < 1, `${worth}: Beta(2, 6) is worth 8 rollouts`);
  // One success in one rollout moves a new arm by 1/(κ + 1) of the way.
  estimator.observe(observed(arms, 1), 1);
  assert.ok(near(estimator.estimate(arms), (mean * worth + 1) / (worth + 1)));
  const copy = made(pooledBeta, {});
  copy.load(estimator.save());
  copy.endStep?.();
  estimator.endStep?.();
  for (const arm of [0, arms, arms + 1]) assert.equal(copy.estimate(arm), estimator.estimate(arm));
});

test("a shared prior stays finite where rates do not tell arms apart, and forgets by its decay", () => {
  for (const [outcomes, least, most] of [
    [[1, 1, 1, 1], 0.85, 1],
    [[0, 0, 0, 0], 0, 0.15],
    [[0, 1], 0.49, 0.51],
    [[1], 0.85, 1],
  ] as const) {
    const estimator = made(pooledBeta, {});
    for (let arm = 0; arm < 8; arm++) estimator.observe(observed(arm, ...outcomes), 0);
    estimator.endStep?.();
    const estimate = estimator.estimate(99);
    assert.ok(estimate >= least && estimate <= most, `${outcomes.join()}: ${estimate}`);
    assert.ok(Number.isFinite(estimator.posterior?.spread(99)));
  }
  const forgetful = made(pooledBeta, { decay: 0 });
  forgetful.observe(observed(0, 0, 0), 0);
  forgetful.observe(observed(0, 1, 1), 1);
  assert.equal(forgetful.estimate(0), (0.5 * 2 + 2) / (2 + 2));
});
