/** The multilayer perceptron: PyTorch's numbers, gradients against differences, both runtimes, saved and read again. */
import assert from "node:assert/strict";
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { test } from "node:test";
import { z } from "zod";
import {
  openBackend,
  type BackendChoice,
  type NativeOptions,
} from "../../../server/engine/devices/backend.ts";
import { adamwChoice } from "../../../server/methods/optimizer/adamw.ts";
import { initialPerceptron } from "../../../server/engine/perceptron/layers.ts";
import {
  activations,
  perceptronWeights,
  TrainablePerceptron,
  type PerceptronShape,
} from "../../../server/engine/perceptron/index.ts";
import { Stream } from "../../../server/engine/random.ts";
import type { Runtime } from "../../../server/engine/devices/runtime.ts";
import type { Features, WeighOutputs } from "../../../server/core/policy.ts";
import { largestDifference } from "./support.ts";

const fixture = z
  .object({
    inputs: z.number(),
    widths: z.array(z.number()),
    outputs: z.number(),
    features: z.array(z.number()),
    targets: z.array(z.number()),
    cases: z.array(
      z.object({
        activation: z.enum(activations),
        weights: z.record(z.string(), z.array(z.number())),
        outputs: z.array(z.number()),
        losses: z.array(z.number()),
        last: z.array(z.number()),
      }),
    ),
  })
  .parse(JSON.parse(readFileSync("test/fixtures/perceptron/steps.json", "utf8")));

async function opened(
  shape: PerceptronShape,
  choice: BackendChoice = "native",
  native: NativeOptions = {},
): Promise<{ perceptron: TrainablePerceptron; runtime: Runtime }> {
  const { runtime } = await openBackend(choice, 2, 0, native);
  const optimizer = adamwChoice({ lr: 1e-2, weight_decay: 0.1, clip_norm: null });
  const weights = initialPerceptron(shape, 5);
  return { perceptron: new TrainablePerceptron({ runtime, shape, weights, optimizer }), runtime };
}
const shapeOf = (more: Partial<PerceptronShape> = {}): PerceptronShape => ({
  inputs: 5,
  widths: [8, 6],
  outputs: 2,
  activation: "relu",
  ...more,
});

/** Mean of squared differences over all outputs. */
const squared =
  (targets: ArrayLike<number>): WeighOutputs =>
  (outputs) => ({
    loss: outputs.reduce((sum, value, i) => sum + (value - targets[i]!) ** 2, 0) / outputs.length,
    gradients: outputs.map((value, i) => (2 * (value - targets[i]!)) / outputs.length),
  });
const given: Features = {
  rows: fixture.features.length / fixture.inputs,
  values: Float64Array.from(fixture.features),
};
const narrow = (weights: Readonly<Record<string, ArrayLike<number>>>): Record<string, Float32Array> =>
  Object.fromEntries(Object.entries(weights).map(([name, values]) => [name, Float32Array.from(values)]));

for (const [choice, native] of [
  ["native", {}],
  ["native", { resident: true }],
  ["wasm", {}],
] as const)
  test(`outputs and twenty steps are PyTorch's, ${choice} ${JSON.stringify(native)}`, async () => {
    for (const { activation, weights, outputs, losses, last } of fixture.cases) {
      const { perceptron, runtime } = await opened(shapeOf({ activation }), choice, native);
      perceptron.writeWeights(narrow(weights));
      assert.ok(largestDifference(await perceptron.predict(given), outputs) < 1e-5, activation);
      await perceptron.update(given, squared(fixture.targets));
      const tensors = runtime.tensors();
      for (const wanted of losses.slice(1)) {
        const { loss } = await perceptron.update(given, squared(fixture.targets));
        assert.ok(Math.abs(loss - wanted) < 1e-4, `${activation}: ${loss} instead of ${wanted}`);
      }
      assert.equal(runtime.tensors(), tensors, "a step leaves no value behind");
      assert.equal(perceptron.version, losses.length);
      assert.ok(largestDifference(await perceptron.predict(given), last) < 1e-3);
      perceptron.close();
    }
  });

for (const activation of activations)
  test(`the gradient by every weight equals differences in 64 bits, ${activation}`, async () => {
    for (const widths of [[8, 6], [4], []]) {
      const shape = shapeOf({ activation, widths });
      const { perceptron } = await opened(shape, "native", { precision: "float64" });
      const weigh = squared(fixture.targets);
      const weights = Object.fromEntries(
        Object.entries(perceptron.readTrained()).map(([name, values]) => [name, Float64Array.from(values)]),
      );
      const gradients = perceptron.gradients(given, weigh);
      assert.deepEqual(Object.keys(gradients).sort(), Object.keys(perceptronWeights(shape)).sort());
      const lossAt = async (name: string, index: number, step: number): Promise<number> => {
        const moved = weights[name]!.map((value, i) => (i === index ? value + step : value));
        perceptron.writeWeights({ ...weights, [name]: moved });
        return weigh(await perceptron.predict(given)).loss;
      };
      const largest = Math.max(...Object.values(gradients).map((one) => Math.max(...one.map(Math.abs))));
      const h = 1e-4;
      for (const [name, gradient] of Object.entries(gradients))
        for (let index = 0; index < gradient.length; index += 3) {
          const near = (await lossAt(name, index, h)) - (await lossAt(name, index, -h));
          const far = (await lossAt(name, index, 2 * h)) - (await lossAt(name, index, -2 * h));
          const measured = (8 * near - far) / (12 * h);
          assert.ok(
            Math.abs(measured - gradient[index]!) < 1e-6 * largest,
            `${name}[${index}]: ${gradient[index]} instead of ${measured}`,
          );
        }
      perceptron.close();
    }
  });

test("it learns what no linear map can, and a linear one what it can", async () => {
  const random = new Stream("xor");
  const values = Float64Array.from({ length: 2 * 64 }, () => 2 * random.next() - 1);
  const targets = Array.from({ length: 64 }, (_, row) => Math.sign(values[2 * row]! * values[2 * row + 1]!));
  const losses = [];
  for (const widths of [[16, 16], []]) {
    const { perceptron } = await opened(shapeOf({ inputs: 2, outputs: 1, widths, activation: "tanh" }));
    let loss = Infinity;
    for (let step = 0; step < 150; step++)
      ({ loss } = await perceptron.update({ rows: 64, values }, squared(targets)));
    losses.push(loss);
    perceptron.close();
  }
  assert.ok(losses[0]! < 0.25 && losses[1]! > 0.7, losses.join());
});

test("a saved one goes on bit for bit; another shape and a damaged file are refused", async () => {
  const folder = mkdtempSync(join(tmpdir(), "gradus-perceptron-"));
  try {
    const [first, second] = [await opened(shapeOf()), await opened(shapeOf())];
    const step = (perceptron: TrainablePerceptron) => perceptron.update(given, squared(fixture.targets));
    for (let i = 0; i < 3; i++) await step(first.perceptron);
    await first.perceptron.save(folder);
    await second.perceptron.load(folder);
    assert.equal(second.perceptron.version, 3);
    for (let i = 0; i < 3; i++) {
      assert.deepEqual(await step(second.perceptron), await step(first.perceptron));
      assert.deepEqual(second.perceptron.readTrained(), first.perceptron.readTrained());
    }
    const other = await opened(shapeOf({ widths: [9] }));
    await assert.rejects(other.perceptron.load(folder), /is 5-8-6-2 relu where the config has 5-9-2 relu/);
    writeFileSync(join(folder, "state.json"), "{}");
    await assert.rejects(
      second.perceptron.load(folder),
      /state\.json cannot be read: it does not describe a perceptron/,
    );
    for (const { perceptron } of [first, second, other]) perceptron.close();
  } finally {
    rmSync(folder, { recursive: true });
  }
});

test("an average follows by its recurrence, and everything is freed", async () => {
  const { perceptron, runtime } = await opened(shapeOf());
  await perceptron.snapshot("average");
  const start = perceptron.readTrained();
  await perceptron.update(given, squared(fixture.targets));
  await perceptron.snapshot("average", 0.75);
  const now = perceptron.readTrained();
  for (const [name, values] of Object.entries(perceptron.readTrained("average")))
    assert.ok(
      largestDifference(
        values,
        start[name]!.map((value, i) => 0.75 * value + 0.25 * now[name]![i]!),
      ) < 1e-6,
    );
  const average = await perceptron.predict(given, "average");
  assert.ok(largestDifference(average, await perceptron.predict(given)) > 1e-4);
  const closed: Runtime = runtime;
  const held = closed.tensors();
  perceptron.close();
  // Weights, average and two moments of six tensors each.
  assert.equal(held - closed.tensors(), 4 * 6);
});

test("no rows, rows of another width and what is no number", async () => {
  const { perceptron } = await opened(shapeOf());
  const none = { rows: 0, values: new Float64Array() };
  assert.equal((await perceptron.predict(none)).length, 0);
  const { metrics } = await perceptron.update(none, () => ({ loss: 0, gradients: new Float64Array() }));
  assert.equal(metrics["skipped"], 1);
  assert.equal(perceptron.version, 0);
  await assert.rejects(
    perceptron.predict({ rows: 2, values: new Float64Array(9) }),
    /got 9 numbers for 2 rows instead of 10/,
  );
  const values = new Float64Array(10);
  values[8] = NaN;
  await assert.rejects(perceptron.predict({ rows: 2, values }), /Feature 3 of row 1 is NaN/);
  const spoilt = await perceptron.update(given, (outputs) => ({
    loss: NaN,
    gradients: outputs.map(() => NaN),
  }));
  assert.equal(spoilt.metrics["skipped"], 1);
  assert.ok(
    (await perceptron.predict(given)).every(Number.isFinite),
    "a gradient that is no number is not applied",
  );
  perceptron.close();
});
