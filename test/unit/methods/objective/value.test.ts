/** A value head's loss in addition to the objective: one update, the sum of both. */
import assert from "node:assert/strict";
import { test } from "node:test";
import { withValue } from "../../../../server/algorithm/loss/objective.ts";
import { dpo } from "../../../../server/methods/objective/pairs/dpo.ts";
import { oreo } from "../../../../server/methods/objective/regressions/oreo.ts";
import { reinforce } from "../../../../server/methods/objective/surrogates/reinforce.ts";
import { valueClipped } from "../../../../server/methods/objective/values/valueClipped.ts";
import { configOf, made, near } from "../../support.ts";
import { checkDerivatives, randomInput } from "./differences.ts";

const value = made(valueClipped, {});

test("loss and derivatives are those of both, the value's times its coefficient", () => {
  for (let seed = 0; seed < 6; seed++) {
    const input = randomInput(seed);
    const main = made(reinforce, {});
    const both = withValue(main, value, ({ step }) => step / 6);
    checkDerivatives(both, input);
    const [own, beside, sum] = [main.loss(input), value.loss(input), both.loss(input)];
    assert.ok(near(sum.loss, own.loss + 0.5 * beside.loss));
    assert.equal(sum.metrics?.["value/loss"], beside.loss);
  }
});

test("where both move one head, their derivatives add up", () => {
  const input = randomInput(2);
  const main = made(oreo, {});
  const { gradients } = withValue(main, value, () => 2).loss(input);
  const [own, beside] = [main.loss(input), value.loss(input)];
  gradients["head:value"]!.forEach((sum, t) =>
    assert.ok(near(sum, own.gradients["head:value"]![t]! + 2 * beside.gradients["head:value"]![t]!)),
  );
});

test("corrections weigh the policy's tokens and not the value's; the wider unit holds", () => {
  const input = randomInput(3);
  const both = withValue(made(reinforce, {}), value, () => 1);
  const corrected = both.loss({ ...input, correction: input.weights.map(() => 0.5) });
  const plain = both.loss(input);
  corrected.gradients.logp!.forEach((own, t) => assert.ok(near(own, 0.5 * plain.gradients.logp![t]!)));
  assert.deepEqual(corrected.gradients["head:value"], plain.gradients["head:value"]);
  assert.equal(withValue(made(dpo, {}), value, () => 1).unit, "group");
});

test("a value before the response, a turn or a step: only its first trained token learns, with its share of the row", () => {
  for (const level of ["response", "turn", "step"] as const) {
    const loss = made(valueClipped, { clip: null, level });
    for (let seed = 0; seed < 6; seed++) {
      const input = randomInput(seed);
      const { batch, weights, factors, now } = input;
      const gradient = loss.loss(input).gradients["head:value"]!;
      let total = 0;
      for (let row = 0; row < batch.rows; row++) {
        const [start, end] = [batch.offsets[row]!, batch.offsets[row + 1]!];
        const tokens = Array.from({ length: end - start }, (_, t) => start + t);
        // `randomInput` halves its rows into turns and steps.
        const half = level === "response" || tokens.length < 2 ? end : start + Math.ceil(tokens.length / 2);
        const firsts = [tokens.filter((t) => t < half), tokens.filter((t) => t >= half)].flatMap((part) => {
          const first = part.find((t) => weights[t] !== 0);
          return first === undefined ? [] : [first];
        });
        const mass = tokens.reduce((sum, t) => sum + factors[t]!, 0) / firsts.length;
        for (const t of tokens) {
          const error = now["head:value"]![t]! - batch.columns.returns![t]!;
          assert.ok(near(gradient[t], firsts.includes(t) ? mass * error : 0));
          if (firsts.includes(t)) total += 0.5 * mass * error * error;
        }
      }
      assert.ok(near(loss.loss(input).loss, total));
    }
  }
});

test("the config names a value loss with its coefficient; none by default", () => {
  const common =
    "tasks: [{ env: countdown }]\nreward: { terms: { right: equation } }\nmodel: { value_heads: [value] }\n";
  assert.equal(configOf(common).top.objective.value, undefined);
  const { value: chosen } = configOf(`${common}objective: { value: { use: value, clip: null } }\n`).top
    .objective;
  assert.equal(chosen?.coefficient, 0.5);
  assert.equal(chosen.loss.declaration.name, "value_clipped");
  assert.equal(chosen.loss.params["clip"], null);
});
