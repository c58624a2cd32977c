/** Optimisers other than the policy's own, and noise on the gradient. */
import assert from "node:assert/strict";
import { test } from "node:test";
import { randomStream } from "../../../server/lib/random.ts";
import {
  batchOf,
  largestDifference,
  open,
  optimizer,
  plan,
  randomRows,
  supervised,
  tinyModel,
} from "./support.ts";

const batch = batchOf(
  randomRows([
    [3, 5],
    [2, 4],
  ]),
);
const other = optimizer({ lr: 1e-2 });
const beside = plan(["logp"], { optimizer: { name: "sft", choice: other } });

test("an optimiser other than the policy's own steps the same weights, remembers for itself, and leaks nothing", async () => {
  const policy = await open({ model: tinyModel() });
  try {
    const first = await policy.update(batch, beside, supervised);
    assert.equal(first.lr, 1e-2);
    assert.equal(policy.readOptimizer("sft")!.updates, 1);
    assert.equal(policy.readOptimizer("other"), undefined);
    await policy.update(batch, plan(["logp"]), supervised);
    const level = policy.counters().tensors;
    await policy.update(batch, beside, supervised);
    await policy.update(batch, plan(["logp"]), supervised);
    assert.equal(policy.counters().tensors, level);
    assert.equal(policy.readOptimizer("sft")!.updates, 2);
    assert.equal(policy.version, 4);
  } finally {
    policy.close();
  }
});

test("what it remembers is taken up again: the next step is the same", async () => {
  const policy = await open({ model: tinyModel() });
  try {
    await policy.update(batch, beside, supervised);
    const [weights, state] = [policy.readTrained(), policy.readOptimizer("sft")!];
    await policy.update(batch, beside, supervised);
    const after = policy.readTrained();
    policy.writeWeights(weights);
    policy.writeOptimizer("sft", other, state);
    await policy.update(batch, beside, supervised);
    for (const [name, values] of Object.entries(policy.readTrained())) assert.deepEqual(values, after[name]);
  } finally {
    policy.close();
  }
});

test("noise has its deviation on every weight, comes from its stream alone, and is not clipped", async () => {
  const moved = async (deviation: number, key: string): Promise<{ gradient: number[]; norm: number }> => {
    const policy = await open({ model: tinyModel() });
    try {
      const noise = { deviation, random: randomStream(1, key) };
      const choice = optimizer({ lr: 1, betas: [0, 0.999] });
      const own = { optimizer: { name: "noisy", choice }, ...(deviation > 0 && { noise }) };
      const { grad_norm } = await policy.update(batch, plan(["logp"], own), supervised);
      // Adam's first moment with β₁ = 0 is the gradient itself.
      const { tensors } = policy.readOptimizer("noisy")!;
      const gradient = Object.entries(tensors).flatMap(([name, { data }]) =>
        name.startsWith("m/") ? [...data] : [],
      );
      return { gradient, norm: grad_norm };
    } finally {
      policy.close();
    }
  };
  const plain = await moved(0, "");
  const [one, same, another] = [await moved(3, "a"), await moved(3, "a"), await moved(3, "b")];
  assert.deepEqual(one.gradient, same.gradient);
  assert.ok(largestDifference(one.gradient, another.gradient) > 1);
  assert.ok(Math.abs(one.norm - plain.norm) < 1e-4, "the norm is of the gradient without noise");
  const n = one.gradient.length;
  const mean = one.gradient.reduce((sum, value) => sum + value, 0) / n;
  const deviation = Math.sqrt(one.gradient.reduce((sum, value) => sum + value * value, 0) / n);
  assert.ok(Math.abs(mean) < (5 * 3) / Math.sqrt(n), `${mean}`);
  assert.ok(Math.abs(deviation - 3) < 0.1, `${deviation}`);
});
