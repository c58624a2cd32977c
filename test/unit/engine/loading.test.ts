/** How a model comes onto the device: what is held meanwhile, and that models which hold nothing twice compute the same. */
import assert from "node:assert/strict";
import { cpSync, mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { test } from "node:test";
import { openBackend } from "../../../server/engine/devices/backend.ts";
import type { OpenWeights } from "../../../server/engine/formats/model.ts";
import { openBase, openWeights, readWeights } from "../../../server/engine/formats/index.ts";
import { foldStreamed, uploadAll } from "../../../server/engine/weights/loading.ts";
import { isLean, predict, ample, total, type WorkNeeds } from "../../../server/engine/memory.ts";
import { trainedShapes, type Parts } from "../../../server/engine/parts.ts";
import type { LanguageModel } from "../../../server/engine/policy.ts";
import { Programs } from "../../../server/engine/passes/programs.ts";
import { Stream } from "../../../server/engine/random.ts";
import { floats, freeAll, type DeviceTensor, type Runtime } from "../../../server/engine/devices/runtime.ts";
import { Scratch } from "../../../server/engine/devices/scratch.ts";
import { targets } from "../../../server/core/blocks/models.ts";
import { countOf } from "../../../server/core/ops.ts";
import {
  initialWeight,
  llamaStyle,
  parameterCount,
  weightShapes,
  type Shape,
} from "../../../server/engine/transformer/weights.ts";
import { familyNames, folderOf } from "./families.ts";
import {
  batchOf,
  coefficientsOf,
  collect,
  largestDifference,
  open,
  optimizer,
  plan,
  randomRows,
  supervised,
  tinyModel,
  weighBy,
} from "./support.ts";
import { some } from "../../support/thorough.ts";

const partsOf = (shape: Shape): Parts => ({ shape, heads: [], adapter: undefined });

/** A runtime that knows how many bytes of floats its handles stand for, and how many at most. */
function counting(runtime: Runtime): { runtime: Runtime; bytes: () => number; most: () => number } {
  let [bytes, most] = [0, 0];
  const counted = (tensor: DeviceTensor): DeviceTensor => {
    const size = 4 * countOf(tensor.shape);
    most = Math.max(most, (bytes += size));
    const { free } = tensor;
    let alive = true;
    tensor.free = () => {
      if (alive) bytes -= size;
      alive = false;
      free.call(tensor);
    };
    return tensor;
  };
  const wrapped: Runtime = {
    name: runtime.name,
    device: runtime.device,
    streams: runtime.streams,
    compile(spec) {
      const program = runtime.compile(spec);
      return {
        run(feeds) {
          const results = program.run(feeds);
          for (const tensor of Object.values(results)) counted(tensor);
          return results;
        },
      };
    },
    upload: (data, shape) => counted(runtime.upload(data, shape)),
    copy: (data, shape) => counted(runtime.copy(data, shape)),
    tensors: () => runtime.tensors(),
    close: () => runtime.close(),
  };
  return { runtime: wrapped, bytes: () => bytes, most: () => most };
}

const large: Shape = {
  vocabulary: 500,
  width: 64,
  layers: 6,
  heads: 4,
  kv_heads: 2,
  head_width: 16,
  hidden: 160,
  context: 64,
  tied: true,
  rope_theta: 10_000,
  epsilon: 1e-5,
  style: llamaStyle(16),
};
/** Weights of that shape; `arrays` are the memory they were written to. */
function drawn(shape: Shape, failing?: string): { open: OpenWeights; arrays: Set<ArrayBufferLike> } {
  const arrays = new Set<ArrayBufferLike>();
  const read = (name: string, room?: (count: number) => Float32Array): Float32Array => {
    if (name === failing) throw new Error(`${name} cannot be read`);
    const values = initialWeight(shape, 1, name, weightShapes(shape)[name]!, room);
    arrays.add(values.buffer);
    return values;
  };
  return { open: () => ({ read, close: () => undefined }), arrays };
}

for (const tied of [true, false])
  test(`a model is loaded matrix by matrix: next to its folded form only one weight is there, tied ${tied}`, async () => {
    const shape = { ...large, tied };
    const { runtime: plain } = await openBackend("native", 2, 0);
    const before = plain.tensors();
    const { runtime, bytes, most } = counting(plain);
    const { open: draw, arrays } = drawn(shape);
    const folded = foldStreamed(new Programs(runtime, partsOf(shape)), draw);
    const size = 4 * parameterCount(shape);
    const largest = 4 * Math.max(...Object.values(weightShapes(shape)).map(countOf));
    // Gains are gone but the last: what is left is no more than the weights.
    assert.ok(bytes() <= size && bytes() > 0.97 * size, `${bytes()} of ${size}`);
    assert.ok(most() <= size + largest + 4 * shape.width, `${most()} for ${size} and ${largest}`);
    // On this side all weights share their room: it grows a few times, to the next power of two.
    assert.ok(arrays.size <= 5, `${arrays.size} arrays`);
    if (tied) assert.equal(folded["head"], folded["embedding"]);
    freeAll(folded);
    assert.equal(bytes(), 0);
    const { open: fails } = drawn(shape, "4.up");
    assert.throws(() => foldStreamed(new Programs(runtime, partsOf(shape)), fails), /4\.up cannot be read/);
    assert.equal(bytes(), 0);
    runtime.close();
    assert.equal(plain.tensors(), before);
  });

for (const name of some(familyNames, 3))
  test(`${name}: folded as it is read equals folded as a whole`, async () => {
    const head = openBase(folderOf(name));
    const { runtime } = await openBackend("native", 2, 0);
    const programs = new Programs(runtime, partsOf(head.shape));
    const all = uploadAll(programs, () => openWeights(head));
    const whole = programs.foldParts().run(all);
    const streamed = foldStreamed(programs, () => openWeights(head));
    assert.deepEqual(Object.keys(streamed), Object.keys(whole));
    for (const [own, tensor] of Object.entries(streamed)) {
      assert.deepEqual(tensor.shape, whole[own]!.shape, own);
      assert.deepEqual(floats(tensor), floats(whole[own]!), own);
    }
    const values = readWeights(head);
    for (const [own, tensor] of Object.entries(all)) assert.deepEqual(floats(tensor), values[own], own);
    for (const tensors of [all, whole, streamed]) freeAll(tensors);
    runtime.close();
  });

test("what was copied stays when its room is written to again, and large rooms are given back", async () => {
  for (const backend of ["native", "wasm"] as const) {
    const { runtime } = await openBackend(backend, 2, 0);
    const scratch = new Scratch();
    const rooms = [100, 100_000, 5_000_000];
    const copies = rooms.map((count) => {
      const values = scratch.floats(count);
      values.fill(count);
      const copy = runtime.copy(values, [count]);
      if (count === 5_000_000) scratch.release();
      else values.fill(-1);
      assert.equal(values.length, count === 5_000_000 ? 0 : count);
      return copy;
    });
    // Arrays of anybody's are copied, too.
    const own = Float32Array.of(1, 2, 3);
    copies.push(runtime.copy(own, [3]));
    own.fill(-1);
    assert.deepEqual([...floats(copies.pop()!)], [1, 2, 3]);
    copies.forEach((copy, index) => {
      assert.ok(floats(copy).every((value) => value === rooms[index]));
      copy.free();
    });
    runtime.close();
  }
});

// ───────────────────────────────────────────────────────────────── models that hold nothing twice

const batch = batchOf(
  randomRows([
    [4, 7],
    [9, 12],
    [2, 1],
    [3, 20],
  ]),
);
const weighing = weighBy({ logp: coefficientsOf(batch.tokens.length, "lean") });
const adapter = { rank: 3, alpha: 6, targets, dropout: 0 };
const prompts = [5, 6, 7].map((token) => ({ tokens: Int32Array.of(token, 8, 9), key: [token] }));

/** Moves all that trains away from where it begins. */
function stirAll(policy: LanguageModel): void {
  const random = new Stream("lean");
  const moved = Object.entries(policy.readTrained()).map(
    ([name, values]) => [name, values.map((value) => value + 0.1 * random.normal())] as const,
  );
  policy.writeWeights(Object.fromEntries(moved));
}
const logpOf = async (policy: LanguageModel, model = "policy"): Promise<Float64Array> =>
  (await policy.score(batch, { model, channels: ["logp"] })).logp!;

const leanModels = [
  ["full", tinyModel()],
  ["untied, with a value head", { ...tinyModel({ tied: false }), heads: [{ name: "value", detach: false }] }],
  ["adapter", { ...tinyModel(), adapter }],
  ["adapter with dropout", { ...tinyModel(), adapter: { ...adapter, dropout: 0.2 } }],
] as const;
const leanCases = leanModels.flatMap(([what, model]) => [1, 2].map((threads) => ({ what, model, threads })));
for (const { what, model, threads } of some(leanCases, 2))
  test(`lean computes what plain does, and leaves nothing behind: ${what}, ${threads} threads`, async () => {
    const [plain, lean] = [await open({ model, threads }), await open({ model, threads, lean: true })];
    stirAll(plain);
    lean.writeWeights(plain.readTrained());
    assert.ok(largestDifference(await logpOf(lean), await logpOf(plain)) < 1e-5);
    const [ours, theirs] = [lean, plain].map((one) => one.gradients(batch, plan(["logp"]), weighing));
    // Dropout draws other masks where runs are cut otherwise.
    if (what !== "adapter with dropout")
      for (const [name, values] of Object.entries(theirs!))
        assert.ok(largestDifference(ours![name]!, values) < 1e-5, name);
    const written = await collect(lean, prompts, { temperature: 0 });
    const wanted = await collect(plain, prompts, { temperature: 0 });
    written.forEach(({ tokens }, index) => assert.deepEqual(tokens, wanted[index]!.tokens));
    await lean.snapshot("before");
    const before = await logpOf(lean, "before");
    let tensors = 0;
    for (let step = 0; step < 4; step++) {
      await lean.update(batch, plan(["logp"]), supervised);
      await collect(lean, prompts, { temperature: 0 });
      await lean.update(batch, plan(["logp"]), supervised);
      if (step === 0) ({ tensors } = lean.counters());
    }
    assert.equal(lean.counters().tensors, tensors);
    assert.deepEqual(await logpOf(lean, "before"), before);
    assert.ok(largestDifference(await logpOf(lean), before) > 1e-3);
    plain.close();
    lean.close();
  });

test("a lean model from a file holds its folded form alone until it trains, is saved as it was, and trains as another", async () => {
  const folder = mkdtempSync(join(tmpdir(), "gradus-loading-"));
  try {
    const setting = { optimizer: optimizer({ lr: 1e-3 }) };
    const { runtime } = await openBackend("native", 2, 0);
    const empty = runtime.tensors();
    const first = await open(setting);
    stirAll(first);
    await first.update(batch, plan(["logp"]), supervised);
    await first.save(join(folder, "first"));
    const base = { ...tinyModel(), base: join(folder, "first") };
    const idle = runtime.tensors();
    const lean = await open({ ...setting, model: base, lean: true });
    // The rotary table and every folded matrix, the head being the embedding.
    const layers = 2 * 5;
    assert.equal(lean.counters().tensors - idle, 1 + 1 + 1 + layers);
    assert.deepEqual(lean.readWeights(), first.readWeights());
    await lean.save(join(folder, "again"));
    assert.deepEqual(readWeights(openBase(join(folder, "again"))), first.readWeights());
    assert.equal(lean.counters().tensors - idle, 1 + 1 + 1 + layers);
    const resumed = await open({ ...setting, from: join(folder, "first"), lean: true });
    const plain = await open({ ...setting, from: join(folder, "first") });
    assert.equal(resumed.version, 1);
    for (const one of [resumed, plain]) await one.update(batch, plan(["logp"]), supervised);
    const [ours, theirs] = [resumed.readWeights(), plain.readWeights()];
    for (const [name, values] of Object.entries(theirs))
      assert.ok(largestDifference(ours[name]!, values) < 1e-5, name);
    await resumed.load(join(folder, "first"));
    assert.deepEqual(resumed.readWeights(), first.readWeights());
    for (const one of [first, lean, resumed, plain]) one.close();
    assert.equal(runtime.tensors(), empty);
    runtime.close();
  } finally {
    rmSync(folder, { recursive: true, force: true });
  }
});

test("the prediction for a model of 135 million parameters is within a quarter of measured peaks", () => {
  /** SmolLM2-135M. */
  const shape: Shape = {
    ...large,
    vocabulary: 49_152,
    width: 576,
    layers: 30,
    heads: 9,
    kv_heads: 3,
    head_width: 64,
    hidden: 1536,
    context: 8192,
    rope_theta: 1e5,
    style: llamaStyle(64),
  };
  assert.ok(isLean(shape));
  const { rule } = optimizer();
  const work: WorkNeeds = { lanes: 0, rows: 0, staged: 0, length: 64, streams: 1, backend: "native" };
  const model = { shape, trained: {}, adapted: false, optimizer: { ...optimizer(), rule }, snapshots: 0 };
  const lora = { ...adapter, rank: 16, alpha: 32 };
  const adapted = { ...model, trained: trainedShapes({ shape, heads: [], adapter: lora }), adapted: true };
  // `npm run bench -- smollm2`: 32 lanes of 40 tokens, and a step on 16 rows of 64.
  for (const [needs, more, measured] of [
    [model, { lanes: 32, length: 40 }, 1.24e9],
    [adapted, { rows: 16 }, 2.18e9],
  ] as const) {
    const prediction = predict([needs], { ...work, ...more }, ample);
    const ratio = total(prediction) / measured;
    assert.ok(
      ratio > 0.75 && ratio < 1.25,
      `${total(prediction)} for ${measured}: ${JSON.stringify(prediction)}`,
    );
  }
});

test("the folder of a run's checkpoint is a base: the policy in it", () => {
  const folder = mkdtempSync(join(tmpdir(), "gradus-checkpoint-"));
  try {
    const policy = join(folder, "policy");
    cpSync(folderOf("llama"), policy, { recursive: true });
    const { path, shape } = openBase(folder);
    assert.equal(path, policy);
    assert.deepEqual(shape, openBase(folderOf("llama")).shape);
  } finally {
    rmSync(folder, { recursive: true, force: true });
  }
});
