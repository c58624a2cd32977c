import assert from "node:assert/strict";
import { readFileSync } from "node:fs";
import { test } from "node:test";
import { z } from "zod";
import type { OptimizerChoice } from "../../../server/core/slots/optimizer.ts";
import { NativeRuntime } from "../../../server/engine/devices/native.ts";
import { Optimizer } from "../../../server/engine/weights/optimizer.ts";
import { optimizers } from "../../../server/methods/optimizer/index.ts";
import { Programs } from "../../../server/engine/passes/programs.ts";
import { floats, freeAll, type DeviceTensor, type Runtime } from "../../../server/engine/devices/runtime.ts";
import type { TrainedWeights } from "../../../server/engine/passes/trained.ts";
import { llamaStyle, type Shape } from "../../../server/engine/transformer/weights.ts";
import { openWasm } from "../../../server/engine/devices/wasm.ts";
import { randomStream } from "../../../server/lib/random.ts";
import { batchOf, largestDifference, open, plan, randomRows, supervised } from "./support.ts";

const values = z.record(z.string(), z.array(z.number()));
const fixture = z
  .object({
    shapes: z.record(z.string(), z.array(z.number())),
    begin: values,
    gradients: z.array(values),
    cases: z.array(z.object({ use: z.string(), params: z.record(z.string(), z.json()), weights: values })),
  })
  .parse(JSON.parse(readFileSync("test/fixtures/optimizers/steps.json", "utf8")));

function choose(use: string, params: Readonly<Record<string, unknown>> = {}): OptimizerChoice {
  const declaration = optimizers.find(({ name }) => name === use);
  assert.ok(declaration, use);
  return declaration.create(declaration.params.parse(params), {
    folder: ".",
    random: randomStream(1, "test"),
    max_tokens: 1,
    group: 1,
  });
}

/** Weights that no model has: gradients are given by the very weights. */
const trained: TrainedWeights = {
  key: "fixture",
  weights: fixture.shapes,
  gradients: Object.fromEntries(
    Object.entries(fixture.shapes).map(([name, extents]) => [name, extents.length]),
  ),
  unfold: (_, __, given) => ({ ...given }),
};
const shape: Shape = {
  vocabulary: 4,
  width: 4,
  layers: 0,
  heads: 1,
  kv_heads: 1,
  head_width: 4,
  hidden: 4,
  context: 4,
  tied: true,
  rope_theta: 1e4,
  epsilon: 1e-5,
  style: llamaStyle(4),
};

const upload = (
  runtime: Runtime,
  from: Readonly<Record<string, readonly number[]>>,
): Record<string, DeviceTensor> =>
  Object.fromEntries(
    Object.entries(fixture.shapes).map(([name, extents]) => [
      name,
      runtime.upload(Float32Array.from(from[name]!), extents),
    ]),
  );

/** The fixture's steps from `first` on; frees everything but what it returns. */
function steps(
  runtime: Runtime,
  optimizer: Optimizer,
  weights: Record<string, DeviceTensor>,
  gradients: typeof fixture.gradients,
): Record<string, DeviceTensor> {
  let present = weights;
  for (const given of gradients) {
    const { applied } = optimizer.step(present, upload(runtime, given), 1);
    assert.ok(applied);
    freeAll(present);
    present = applied;
  }
  return present;
}
const readAll = (tensors: Readonly<Record<string, DeviceTensor>>): Record<string, Float32Array> =>
  Object.fromEntries(Object.entries(tensors).map(([name, tensor]) => [name, floats(tensor)]));

const native = (): Runtime => new NativeRuntime({ threads: 2, parameters: 0 });
const manners = [
  ["in one run, natively", Number.POSITIVE_INFINITY, () => Promise.resolve(native())],
  ["weight by weight, natively", 0, () => Promise.resolve(native())],
  ["in one run, on WebAssembly", Number.POSITIVE_INFINITY, openWasm],
  ["weight by weight, on WebAssembly", 0, openWasm],
] as const;

for (const [manner, wholeParameters, openRuntime] of manners)
  test(`twenty steps of every method are PyTorch's: ${manner}`, async () => {
    const runtime = await openRuntime();
    const programs = new Programs(runtime, { shape: shape, heads: [], adapter: undefined });
    const before = runtime.tensors();
    for (const { use, params, weights } of fixture.cases) {
      const optimizer = new Optimizer(programs, choose(use, params), trained, wholeParameters);
      const moved = steps(runtime, optimizer, upload(runtime, fixture.begin), fixture.gradients);
      for (const [name, wanted] of Object.entries(weights)) {
        const found = floats(moved[name]!);
        assert.ok(
          largestDifference(found, wanted) < 2e-5,
          `${use} ${JSON.stringify(params)} ${name}: off by ${largestDifference(found, wanted)}`,
        );
      }
      freeAll(moved);
      optimizer.close();
      assert.equal(runtime.tensors(), before, `${use}: handles are left`);
    }
    runtime.close();
  });

test("every method goes on from its saved state bit for bit, and keeps what it says it keeps", () => {
  const runtime = native();
  const programs = new Programs(runtime, { shape: shape, heads: [], adapter: undefined });
  const floatsKept: Readonly<Record<string, number>> = {
    adamw: 2 * 50,
    lion: 50,
    sgd: 0,
    adafactor: 6 + 4 + 3 + 7 + 5,
  };
  for (const { use, params } of fixture.cases) {
    const choice = choose(use, params);
    const straight = new Optimizer(programs, choice, trained);
    const whole = steps(runtime, straight, upload(runtime, fixture.begin), fixture.gradients);
    const first = new Optimizer(programs, choice, trained);
    const half = steps(runtime, first, upload(runtime, fixture.begin), fixture.gradients.slice(0, 9));
    const second = new Optimizer(programs, choose("sgd"), trained);
    second.write(first.read());
    second.choice = choice;
    assert.equal(second.updates, 9);
    const rest = steps(runtime, second, half, fixture.gradients.slice(9));
    assert.deepEqual(readAll(rest), readAll(whole), use);
    const extra = params["beta1"] === undefined && params["momentum"] === undefined ? 0 : 50;
    assert.equal(straight.bytes, 4 * (floatsKept[use]! + extra), use);
    for (const one of [whole, rest]) freeAll(one);
    for (const one of [straight, first, second]) one.close();
  }
  runtime.close();
});

test("a gradient that is not finite changes nothing, one by one too; another method begins afresh", () => {
  const runtime = native();
  const programs = new Programs(runtime, { shape: shape, heads: [], adapter: undefined });
  const optimizer = new Optimizer(programs, choose("adamw", { warmup: 4 }), trained, 0);
  const weights = steps(runtime, optimizer, upload(runtime, fixture.begin), fixture.gradients.slice(0, 2));
  const state = optimizer.read();
  const handles = runtime.tensors();
  const spoilt = { ...fixture.gradients[0]!, b: fixture.gradients[0]!["b"]!.map(() => Infinity) };
  assert.equal(optimizer.step(weights, upload(runtime, spoilt), 1).applied, undefined);
  assert.deepEqual(optimizer.read(), state);
  assert.equal(runtime.tensors(), handles);
  optimizer.choice = choose("adamw", { warmup: 4, lr: 1 });
  assert.equal(optimizer.updates, 2);
  optimizer.choice = choose("lion", { warmup: 4, lr: 1 });
  assert.equal(optimizer.updates, 0);
  assert.equal(optimizer.rate(1), 0.25);
  assert.equal(optimizer.bytes, 0);
  freeAll(weights);
  runtime.close();
});

test("state that belongs to other weights is refused by name", () => {
  const runtime = native();
  const optimizer = new Optimizer(
    new Programs(runtime, { shape: shape, heads: [], adapter: undefined }),
    choose("lion"),
    trained,
  );
  const { method } = optimizer.read();
  assert.throws(() => {
    optimizer.write({
      method,
      updates: 1,
      tensors: { "m/a": { shape: [2], data: new Float32Array(2) } },
    });
  }, /m\/a should have the extents \[6, 4\] but has \[2\]/);
  runtime.close();
});

test("a model learns with each method", async () => {
  const batch = batchOf(
    randomRows([
      [5, 6],
      [1, 9],
      [3, 20],
    ]),
  );
  const rates = { adamw: 1e-2, lion: 3e-3, sgd: 1, adafactor: 1e-2 };
  for (const [use, lr] of Object.entries(rates)) {
    const policy = await open({ optimizer: choose(use, { lr }) });
    const first = (await policy.update(batch, plan(["logp"]), supervised)).loss;
    let last = first;
    for (let step = 0; step < 25; step++)
      last = (await policy.update(batch, plan(["logp"]), supervised)).loss;
    assert.ok(last < first - 1, `${use}: ${first} to ${last}`);
    policy.close();
  }
});
