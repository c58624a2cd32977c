import assert from "node:assert/strict";
import { test } from "node:test";
import { objectives } from "../../../../server/methods/objective/index.ts";
import { UserError } from "../../../../shared/lib/errors.ts";
import type { ObjectiveInput } from "../../../../server/core/loss.ts";
import { some } from "../../../support/thorough.ts";
import { context } from "../../support.ts";
import { checkDerivatives, checkFinite, randomInput } from "./differences.ts";
import { familyCases } from "./familyCases.ts";
import { surrogateCases, type Case } from "./surrogateCases.ts";

/** Parameters other than the defaults, and losses with constant parts; every declared objective is checked anyway. */
const cases: Readonly<Record<string, readonly Case[]>> = {
  ...surrogateCases,
  ...familyCases,
};

const seeds = some(
  Array.from({ length: 12 }, (_, seed) => seed),
  2,
);

for (const declaration of objectives)
  for (const { params = {}, lossAt } of cases[declaration.name] ?? [{}]) {
    const name = `${declaration.name} ${JSON.stringify(params)}`;
    const objective = declaration.create(declaration.params.parse(params), context);
    test(`${name}: derivatives are those of the loss`, () => {
      for (const seed of seeds)
        for (const pairs of [false, true]) checkDerivatives(objective, randomInput(seed, { pairs }), lossAt);
    });
    test(`${name}: extreme ratios and −∞ give numbers or a named error`, () => {
      for (const seed of seeds)
        for (const pairs of [false, true])
          checkFinite(objective, randomInput(seed, { extreme: true, pairs }));
    });
    test(`${name}: nothing that trains, nothing to do`, () => {
      const some = randomInput(1);
      const none = new Float64Array(some.weights.length);
      const input: ObjectiveInput = { ...some, weights: none, factors: none };
      const { loss, gradients } = objective.loss(input);
      assert.equal(Math.abs(loss), 0);
      for (const gradient of Object.values(gradients)) assert.ok(gradient?.every((value) => value === 0));
    });
    test(`${name}: a missing channel is named`, () => {
      const some = randomInput(1);
      assert.throws(() => objective.loss({ ...some, now: {}, old: {} }), UserError);
    });
  }
