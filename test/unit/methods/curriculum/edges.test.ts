/** Every method of the curriculum where there is one arm, where all are alike, and where everything or nothing succeeds. */
import assert from "node:assert/strict";
import { test } from "node:test";
import { NamedArms } from "../../../../server/methods/curriculum/armSet.ts";
import {
  admissions,
  budgets,
  estimators,
  samplers,
  signals,
} from "../../../../server/methods/curriculum/index.ts";
import type { Declaration, SlotName } from "../../../../server/core/declaration.ts";
import { randomStream } from "../../../../server/lib/random.ts";
import { lifted } from "../../../../server/methods/curriculum/fast/lifted.ts";
import type { Group } from "../../../../server/core/rollouts.ts";
import { context } from "../../support.ts";
import { clock, group, outcomesOf, poolOf, observed, task } from "./support.ts";

/** What a method cannot do without. */
const needed: Readonly<Record<string, object>> = {
  tiers: { edges: [0.5], quotas: [1, 1] },
  label: { field: "level" },
};
const made = <Slot extends SlotName>(declaration: Declaration<Slot>) =>
  declaration.create(declaration.params.parse(needed[declaration.name] ?? {}), context);

const tables: Readonly<Record<string, readonly (number | undefined)[]>> = {
  "one arm": [0.3],
  "one arm of which nothing is known": [undefined],
  "nothing known of any": [undefined, undefined, undefined],
  "all 0": [0, 0, 0],
  "all 1": [1, 1, 1],
  "below 0": [-3, -2, -2],
  "far apart": [1e300, 0, -1e300],
};
for (const declaration of samplers)
  test(`${declaration.name}: shares sum to 1 and as many arms come as are asked for`, () => {
    for (const [what, values] of Object.entries(tables))
      for (const once of [false, true]) {
        const seen = Float64Array.from(values, (_, arm) => 8 * arm);
        const known = poolOf(values, {
          once,
          rollouts: seen,
          groups: seen,
          draw: (arm) => values[arm] ?? 0.5,
          spread: () => 0.1,
        });
        const sampler = lifted(made(declaration));
        const p = sampler.probabilities(known, clock);
        const sum = p.reduce((all, share) => all + share, 0);
        assert.ok(Math.abs(sum - 1) < 1e-9 && p.every((share) => share >= 0), `${what}: ${[...p]}`);
        const candidates = sampler.candidates?.(known, 2, randomStream(1), clock) ?? [];
        const drawn = sampler.draw(known, 2, randomStream(2), clock, candidates);
        assert.ok(
          drawn.every((arm) => arm >= 0 && arm < values.length),
          what,
        );
        // What draws by shares of 0 has no second arm to give; points of a box are made, and may come twice.
        const most = Math.min(2, p.filter((share) => share > 0).length);
        assert.ok(drawn.length >= most && drawn.length <= 2, `${what}: ${drawn}`);
        // Groups without rewards, without anything, and none.
        for (const groups of [[group([])], [group([1])], []])
          sampler.learn?.(
            outcomesOf(
              groups,
              groups.map(() => 0),
              known,
            ),
            known,
            clock,
          );
      }
  });

/** Asks a model, pilots or the tasks, not the outcomes. */
const others = new Set([
  "value_head",
  "surrogate",
  "angle_concentration",
  "static",
  "pass_rate",
  "reestimate_block",
]);
for (const declaration of estimators.filter(({ name }) => !others.has(name)))
  test(`${declaration.name}: finite where all or none of one, of three or of a thousand rollouts succeed`, () => {
    for (const outcome of [0, 1])
      for (const rollouts of [1, 3, 1000]) {
        const estimator = made(declaration);
        estimator.addArms?.(new NamedArms(["s/1", "s/2"]));
        const outcomes = new Array<number>(rollouts).fill(outcome);
        for (let step = 0; step < 25; step++) {
          estimator.observe(observed(0, ...outcomes), step);
          estimator.endStep?.();
        }
        assert.ok(Number.isFinite(estimator.estimate(0)));
        for (const arm of [0, 1]) {
          const spread = estimator.posterior?.spread(arm);
          assert.ok(spread === undefined || Number.isNaN(spread) || spread >= 0);
          for (let i = 0; i < 50; i++) {
            const drawn = estimator.posterior?.draw(arm, randomStream(i));
            assert.ok(drawn === undefined || (drawn >= 0 && drawn <= 1), `${drawn}`);
          }
        }
        const copy = made(declaration);
        copy.load(estimator.save());
        assert.equal(copy.estimate(0), estimator.estimate(0));
      }
  });

const alike: Readonly<Record<string, Group>> = {
  "one success": group([1]),
  "one failure": group([0]),
  "all right": group([1, 1, 1, 1]),
  "all wrong": group([0, 0, 0, 0]),
};
test("signals are finite of a group of one and of groups that are all alike, and scores from 0 to 1", () => {
  for (const declaration of signals)
    for (const [what, one] of Object.entries(alike)) {
      const signal = made(declaration);
      const arms = new NamedArms(["s/1"]);
      const asked = {
        ...one,
        task: { ...task, data: { level: 1 } },
        advantages: new Float64Array(one.rewards.length),
      };
      for (let visit = 0; visit < 3; visit++) {
        const values = Array.from(signal.measure(asked, 0, arms, []));
        assert.ok(values.every(Number.isFinite), `${declaration.name}, ${what}: ${values}`);
        signal.remember?.(asked, 0, arms);
      }
      for (const rate of [0, 0.5, 1]) assert.ok(Number.isFinite(signal.score?.(rate) ?? 0), declaration.name);
    }
});

test("admissions give a verdict with a reason for groups of one, groups all alike and groups without rewards", () => {
  for (const declaration of admissions) {
    const admission = made(declaration);
    for (const one of [...Object.values(alike), group([])]) {
      const verdict = admission.admit(one);
      assert.ok(verdict.admitted || verdict.reason !== "", declaration.name);
      admission.remember?.([one], [0], clock);
    }
    if (declaration.name !== "none") assert.ok(!admission.admit(group([])).admitted, declaration.name);
  }
});

test("budgets keep their sum where one arm or all arms never fail or never succeed", () => {
  for (const declaration of budgets)
    for (const rate of [0, 1]) {
      const budget = made(declaration);
      for (const arms of [[0], [0, 1], [0, 1, 2]]) {
        const rollouts = budget.rollouts?.(arms, 4, () => rate);
        assert.equal(rollouts?.reduce((sum, n) => sum + n, 0) ?? 4 * arms.length, 4 * arms.length);
      }
      budget.learn?.([group([rate]), group([])], [0, 1], [], clock);
      const groups = budget.groups?.(8, clock) ?? 8;
      assert.ok(groups >= 8 && groups <= 32, `${declaration.name}: ${groups}`);
    }
});
