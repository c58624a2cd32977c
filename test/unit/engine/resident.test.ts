/** The runtime of a GPU, on the CPU: values that stay in the session give what values that are handed over give. */
import assert from "node:assert/strict";
import { readFileSync } from "node:fs";
import { test } from "node:test";
import { Graph } from "../../../server/engine/graph/graph.ts";
import type { Node } from "../../../server/engine/graph/writer.ts";
import { loadBinding, NativeRuntime, type Binding } from "../../../server/engine/devices/native.ts";
import { LanguageModel } from "../../../server/engine/policy.ts";
import { ResidentRuntime } from "../../../server/engine/devices/resident.ts";
import { take } from "../../../server/core/ops.ts";
import { type Program, type ProgramSpec, type Runtime } from "../../../server/engine/devices/runtime.ts";
import {
  batch,
  coefficientsOf,
  collect,
  compared,
  largestDifference,
  open,
  plan,
  rows,
  stir,
  supervised,
  tinyModel,
  weighBy,
} from "./support.ts";
import { inLong, some } from "../../support/thorough.ts";

const channels = ["logp", "entropy", "logsumexp"] as const;
const coefficients = Object.fromEntries(
  channels.map((channel) => [channel, coefficientsOf(batch.tokens.length, channel)]),
);
const prompts = rows.map((row, index) => ({ tokens: Int32Array.from(row.context), key: [index] }));
const resident = { native: { resident: true } } as const;

const difference = (a: LanguageModel, b: LanguageModel): number => {
  const theirs = b.readWeights();
  return Math.max(
    ...Object.entries(a.readWeights()).map(([name, values]) => largestDifference(values, theirs[name]!)),
  );
};

for (const size of some([{ kv_heads: 4, tied: false }, {}], 1)) {
  test(`values kept in the session give the same results, ${JSON.stringify(size)}`, async () => {
    const model = tinyModel(size);
    const [plain, kept] = [await open({ model, threads: 1 }), await open({ model, ...resident })];
    stir(plain, 0.2);
    kept.writeWeights(plain.readWeights());
    const found = await compared(plain, kept, channels);
    for (const channel of channels) assert.ok(found.channels[channel]! < 1e-5, channel);
    for (const [name, difference] of Object.entries(found.gradients)) assert.ok(difference < 1e-5, name);
    const [drawn, again] = found.samples;
    drawn.forEach((sample, index) => assert.deepEqual(sample.tokens, again[index]!.tokens));
    const narrow = { top_p: 0.8, min_p: 0.01, min_tokens: 3, temperature: 1.2, lanes: 3 };
    const [few, same] = [await collect(plain, prompts, narrow), await collect(kept, prompts, narrow)];
    few.forEach((sample, index) => assert.deepEqual(sample.tokens, same[index]!.tokens));
    for (const policy of [plain, kept]) await policy.snapshot("ema", 0.5);
    for (let step = 0; step < 3; step++) {
      const [one, other] = [
        await plain.update(batch, plan(["logp"]), supervised),
        await kept.update(batch, plan(["logp"]), supervised),
      ];
      assert.ok(Math.abs(one.loss - other.loss) < 1e-5);
    }
    assert.ok(difference(plain, kept) < 1e-5);
    for (const policy of [plain, kept]) await policy.snapshot("ema", 0.5);
    const [c, d] = [
      await plain.score(batch, { model: "ema", channels: ["logp"] }),
      await kept.score(batch, { model: "ema", channels: ["logp"] }),
    ];
    assert.ok(largestDifference(c.logp!, d.logp!) < 1e-5);
    plain.close();
    kept.close();
  });
}

/** The addon, with the bytes that go through it and the values that a session keeps counted. */
function counted(binding: Binding): { readonly binding: Binding; bytes: () => number; kept: () => number } {
  let bytes = 0;
  const kept = new Map<number, number>();
  const wrapped: Binding = {
    createTensor(shape, dtype, data) {
      bytes += data.byteLength;
      return binding.createTensor(shape, dtype, data);
    },
    tensorDataSync(id) {
      const data = binding.tensorDataSync(id);
      bytes += data.byteLength;
      return data;
    },
    runSavedModel(model, inputs, inputNames, outputNames) {
      const infos = binding.runSavedModel(model, inputs, inputNames, outputNames);
      // Handles are strings (7); everything else that comes out is a value on the host.
      for (const { shape, dtype } of infos)
        if (dtype === 7) kept.set(model, (kept.get(model) ?? 0) + 1);
        else bytes += 4 * shape.reduce((product, extent) => product * extent, 1);
      const forgotten = Number(/^value\/forget(\d+)/.exec(outputNames)?.[1] ?? 0);
      kept.set(model, (kept.get(model) ?? 0) - forgotten);
      return infos;
    },
    deleteTensor: (id) => binding.deleteTensor(id),
    loadSavedModel: (folder, tags) => binding.loadSavedModel(folder, tags),
    deleteSavedModel(id) {
      kept.delete(id);
      binding.deleteSavedModel(id);
    },
    getNumOfTensors: () => binding.getNumOfTensors(),
    isUsingGpuDevice: () => binding.isUsingGpuDevice(),
  };
  return {
    binding: wrapped,
    bytes: () => bytes,
    kept: () => [...kept.values()].reduce((sum, count) => sum + count, 0),
  };
}

/** A policy of this width on another runtime. */
async function moved(width: number, runtime: Runtime): Promise<LanguageModel> {
  const model = tinyModel({ width, hidden: 2 * width });
  const like = await open({ model });
  const weights = like.readWeights();
  const reader = { read: (name: string) => take(weights, name), close: () => undefined };
  const policy = new LanguageModel({ ...like.setup, runtime, weights: () => reader });
  like.close();
  return policy;
}

test("no value is left in the session or outside it by steps, samples and failures", async () => {
  const before = loadBinding(0, 1).getNumOfTensors();
  const { binding, kept } = counted(loadBinding(0, 1));
  const policy = await moved(16, new ResidentRuntime(binding, "CPU"));
  const round = async (): Promise<void> => {
    await policy.update(batch, plan(["logp"]), supervised);
    await collect(policy, prompts);
    await assert.rejects(
      policy.update(batch, plan(["logp"]), () => {
        throw new Error("broken objective");
      }),
      /broken objective/,
    );
  };
  await round();
  const { tensors } = policy.counters();
  const inSession = kept();
  assert.ok(inSession > 0);
  for (let step = 0; step < 4; step++) await round();
  assert.equal(policy.counters().tensors, tensors);
  assert.equal(kept(), inSession);
  policy.close();
  assert.equal(binding.getNumOfTensors(), before);
});

inLong("what crosses in a step does not depend on the model's size", async () => {
  const crossed: number[] = [];
  for (const width of [16, 64]) {
    const { binding, bytes } = counted(loadBinding(0, 1));
    const policy = await moved(width, new ResidentRuntime(binding, "CPU"));
    const round = async (): Promise<void> => {
      await policy.update(batch, plan(["logp"]), supervised);
      await collect(policy, prompts, { max_tokens: 3 });
    };
    await round();
    await round();
    const start = bytes();
    await round();
    crossed.push(bytes() - start);
    policy.close();
  }
  assert.equal(crossed[0], crossed[1]);
  assert.ok(crossed[0]! > 0);
});

interface Kernel {
  readonly types: Readonly<Record<string, readonly string[]>>;
  readonly host: readonly string[];
}
interface Kernels {
  readonly kernels: Readonly<Record<string, readonly Kernel[]>>;
}
const { kernels }: Kernels = JSON.parse(readFileSync("test/fixtures/kernels/kernels.json", "utf8"));

const suits = (kernel: Kernel, { attributes }: Node): boolean =>
  Object.entries(kernel.types).every(([name, types]) => {
    const attribute = attributes[name];
    // An attribute that is not written has its default, which is a type that the kernel takes.
    return attribute === undefined || ("type" in attribute && types.includes(attribute.type));
  });

/** Emits every program for a GPU, too, and runs it where it may. */
class Emitting implements Runtime {
  readonly name = "native";
  readonly streams = 1;
  readonly nodes: Node[] = [];
  private graphs = 0;
  constructor(private readonly runtime: Runtime) {}
  get device(): string {
    return this.runtime.device;
  }
  compile(spec: ProgramSpec): Program {
    const graph = new Graph({ device: "GPU", prefix: `p${this.graphs++}/` });
    const feeds = Object.entries(spec.feeds).map(([name, { dtype, rank }], index) => [
      name,
      dtype === "int" ? graph.placeholder(`in${index}`, dtype, rank) : graph.kept(`in${index}`, rank),
    ]);
    const results = Object.values(spec.build<string>(graph, Object.fromEntries(feeds)));
    results.forEach((value, index) => graph.keep(`out${index}`, value));
    this.nodes.push(...graph.nodes);
    return this.runtime.compile(spec);
  }
  upload: Runtime["upload"] = (data, shape) => this.runtime.upload(data, shape);
  copy: Runtime["copy"] = (data, shape) => this.runtime.copy(data, shape);
  tensors = (): number => this.runtime.tensors();
  close = (): void => this.runtime.close();
}

test("every operation of every program has a device, and a kernel of TensorFlow's CUDA build there", async () => {
  const emitting = new Emitting(new NativeRuntime({ threads: 1, parameters: 0 }));
  const policy = await moved(16, emitting);
  policy.gradients(batch, plan(channels), weighBy(coefficients));
  for (const kept_bytes of [0, 2 ** 30]) {
    const again = new LanguageModel({ ...policy.setup, kept_bytes });
    again.gradients(batch, plan(channels), weighBy(coefficients));
    await again.score(batch, { model: "policy", channels: ["logp"] });
    await again.update(batch, plan(["logp"]), supervised);
    await again.snapshot("ema", 0.5);
    await again.snapshot("ema", 0.5);
    for (const decode of [
      {},
      { temperature: 0 },
      { temperature: 0.5 },
      { top_k: 3 },
      { top_p: 0.5, min_p: 0.1, min_tokens: 1, lanes: 2 },
    ])
      await collect(again, prompts, { ...decode, max_tokens: 2 });
  }
  assert.ok(emitting.nodes.length > 1000);
  const computing = emitting.nodes.filter(({ device }) => device === "/device:GPU:0");
  assert.deepEqual(
    emitting.nodes.filter((node) => !computing.includes(node) && node.device !== "/device:CPU:0"),
    [],
  );
  const missing = computing.filter(
    (node) => !(kernels[node.operation] ?? []).some((kernel) => suits(kernel, node)),
  );
  assert.deepEqual([...new Set(missing.map(({ operation }) => operation))], []);
  // What the host takes from the card is what a lane or a shape has one of: indices and extents.
  const producers = new Map(emitting.nodes.map((node) => [node.name, node]));
  const given = emitting.nodes.flatMap(({ device, inputs }) =>
    device === "/device:CPU:0" ? inputs.map((name) => producers.get(name.replace(/^\^|:\d+$/g, ""))) : [],
  );
  const leaving = given.filter((node) => node?.device === "/device:GPU:0").map((node) => node!);
  const small = (node: Node): boolean =>
    ["Shape", "ArgMax", "TopKV2"].includes(node.operation) ||
    (node.operation === "Cast" &&
      ["Sum", "Maximum"].includes(producers.get(node.inputs[0]!)?.operation ?? ""));
  assert.deepEqual(
    [...new Set(leaving.filter((node) => !small(node)).map(({ operation }) => operation))],
    [],
  );
  // A kernel that wants its data on the host would carry activations back and forth.
  const carried = computing.filter((node) => {
    const kernel = kernels[node.operation]!.find((one) => suits(one, node))!;
    return kernel.host.some((argument) =>
      ["x", "y", "input", "tensor", "value", "values"].includes(argument),
    );
  });
  assert.deepEqual([...new Set(carried.map(({ operation }) => operation))], []);
  policy.close();
});
