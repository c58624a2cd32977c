/** A small network on the policy's device: numbers from features, trained by whichever method names it. */
import { UserError } from "../../../shared/lib/errors.ts";
import type { OptimizerChoice } from "../../core/slots/optimizer.ts";
import type { Model } from "../../core/basics.ts";
import type { Features, Perceptron, PerceptronUpdate, WeighOutputs } from "../../core/policy.ts";
import { Optimizer } from "../weights/optimizer.ts";
import { ProgramCache } from "../devices/programCache.ts";
import { take, type Named } from "../../core/ops.ts";
import {
  exactFloats,
  floats,
  freeAll,
  prefixed,
  type DeviceTensor,
  type Program,
  type Runtime,
  type Tensors,
} from "../devices/runtime.ts";
import { checkSizes } from "../sharing.ts";
import type { PerceptronShape } from "../../core/blocks/models.ts";
import { perceptronWeights } from "./layers.ts";
import { averageSpec, gradientSpec, predictSpec, trainedPerceptron } from "./programs.ts";
import { readPerceptron, writePerceptron } from "./stored.ts";

interface PerceptronSetup {
  /** Closed with it. */
  readonly runtime: Runtime;
  readonly shape: PerceptronShape;
  /** How it begins. */
  readonly weights: Named<Float32Array>;
  readonly optimizer: OptimizerChoice;
}

export class TrainablePerceptron implements Perceptron {
  version = 0;
  private readonly programs: ProgramCache;
  private readonly optimizer: Optimizer;
  private weights: Record<string, DeviceTensor>;
  private readonly saved = new Map<Model, Record<string, DeviceTensor>>();

  constructor(private readonly setup: PerceptronSetup) {
    this.programs = new ProgramCache(setup.runtime);
    this.optimizer = new Optimizer(this.programs, setup.optimizer, trainedPerceptron(setup.shape));
    this.weights = this.uploaded(setup.weights);
  }
  get shape(): PerceptronShape {
    return this.setup.shape;
  }
  get inputs(): number {
    return this.shape.inputs;
  }
  get outputs(): number {
    return this.shape.outputs;
  }
  get snapshots(): readonly Model[] {
    return [...this.saved.keys()];
  }

  async predict(features: Features, of: Model = "policy"): Promise<Float64Array> {
    return this.predicted(features, this.weightsOf(of));
  }
  private predicted(features: Features, weights: Tensors): Float64Array {
    checkFeatures(features, this.inputs);
    if (features.rows === 0) return new Float64Array();
    const program = this.programs.get("predict", () => predictSpec(this.shape));
    const outputs = take(this.run(program, features, weights), "outputs");
    const values = Float64Array.from(exactFloats(outputs));
    outputs.free();
    return values;
  }
  private run(
    program: Program,
    { rows, values }: Features,
    weights: Tensors,
    byOutputs?: Float64Array,
  ): Record<string, DeviceTensor> {
    const { runtime } = this.setup;
    const feeds = {
      features: runtime.upload(values.slice(), [rows, this.inputs]),
      ...(byOutputs && { byOutputs: runtime.upload(byOutputs, [rows, this.outputs]) }),
    };
    try {
      return program.run({ ...prefixed("w/", weights), ...feeds });
    } finally {
      freeAll(feeds);
    }
  }

  /** ∂loss/∂weights, without a step; undefined where there is no row. */
  private gradient(
    features: Features,
    weigh: WeighOutputs,
  ): { readonly weighed: ReturnType<WeighOutputs>; readonly gradients: Tensors | undefined } {
    const outputs = this.predicted(features, this.weights);
    const weighed = weigh(outputs);
    if (weighed.gradients.length !== outputs.length)
      throw new Error(
        `internal: ${weighed.gradients.length} derivatives for ${outputs.length} outputs of a perceptron`,
      );
    if (features.rows === 0) return { weighed, gradients: undefined };
    const program = this.programs.get("gradient", () => gradientSpec(this.shape));
    return { weighed, gradients: this.run(program, features, this.weights, weighed.gradients.slice()) };
  }
  /** What tests compare with differences. */
  gradients(features: Features, weigh: WeighOutputs): Record<string, Float64Array> {
    const { gradients = {} } = this.gradient(features, weigh);
    const values = Object.entries(gradients).map(
      ([name, tensor]) => [name, Float64Array.from(exactFloats(tensor))] as const,
    );
    freeAll(gradients);
    return Object.fromEntries(values);
  }

  async update(features: Features, weigh: WeighOutputs, lr_scale = 1): Promise<PerceptronUpdate> {
    const { weighed, gradients } = this.gradient(features, weigh);
    const report = (grad_norm: number, lr: number, skipped: 0 | 1): PerceptronUpdate => ({
      loss: weighed.loss,
      grad_norm,
      lr,
      metrics: { ...weighed.metrics, skipped },
    });
    if (gradients === undefined) return report(0, this.optimizer.rate(lr_scale), 1);
    const { norm, lr, applied } = this.optimizer.step(this.weights, gradients, lr_scale);
    if (applied === undefined) return report(norm, 0, 1);
    freeAll(this.weights);
    this.weights = applied;
    this.version += 1;
    return report(norm, lr, 0);
  }

  private weightsOf(model: Model): Record<string, DeviceTensor> {
    const found = model === "policy" ? this.weights : this.saved.get(model);
    if (found === undefined) throw new Error(`internal: the perceptron has no snapshot ${model}`);
    return found;
  }
  /** Copies the weights under a name or, with `decay`, moves an average towards them. */
  async snapshot(name: Model, decay?: number): Promise<void> {
    const before = this.saved.get(name);
    if (decay === undefined || before === undefined) this.writeWeights(this.readTrained(), name);
    else {
      const factor = this.setup.runtime.upload(Float32Array.of(decay), []);
      const program = this.programs.get("average", () => averageSpec(this.shape));
      const mixed = program.run({
        ...prefixed("a/", before),
        ...prefixed("w/", this.weights),
        decay: factor,
      });
      factor.free();
      freeAll(before);
      this.saved.set(name, mixed);
    }
  }
  /** Weights by name, of itself (`policy`) or of a snapshot. */
  readTrained(of: Model = "policy"): Record<string, Float32Array> {
    return Object.fromEntries(
      Object.entries(this.weightsOf(of)).map(([name, tensor]) => [name, floats(tensor)]),
    );
  }
  /** @throws UserError naming a weight that is missing or of another size */
  writeWeights(values: Named<Float32Array | Float64Array>, of: Model = "policy"): void {
    const fresh = this.uploaded(values);
    if (of === "policy") {
      freeAll(this.weights);
      this.weights = fresh;
    } else {
      freeAll(this.saved.get(of) ?? {});
      this.saved.set(of, fresh);
    }
  }
  private uploaded(values: Named<Float32Array | Float64Array>): Record<string, DeviceTensor> {
    const shapes = Object.entries(perceptronWeights(this.shape));
    checkSizes(shapes, values);
    return Object.fromEntries(
      shapes.map(([name, extents]) => [name, this.setup.runtime.upload(take(values, name).slice(), extents)]),
    );
  }

  async save(folder: string): Promise<void> {
    const { shape, version } = this;
    writePerceptron(folder, {
      shape,
      version,
      weights: this.readTrained(),
      optimizer: this.optimizer.read(),
    });
  }
  /** @throws UserError where the folder is damaged or of a perceptron of another shape */
  async load(folder: string): Promise<void> {
    const { version, weights, optimizer } = readPerceptron(folder, this.shape);
    this.writeWeights(weights);
    this.optimizer.write(optimizer);
    this.version = version;
  }
  close(): void {
    freeAll(this.weights);
    for (const weights of this.saved.values()) freeAll(weights);
    this.saved.clear();
    this.optimizer.close();
    this.setup.runtime.close();
  }
}

/** @throws UserError naming the row and the feature that is no number, or how many there should be */
function checkFeatures({ rows, values }: Features, inputs: number): void {
  if (values.length !== rows * inputs)
    throw new UserError(
      `A perceptron of ${inputs} inputs got ${values.length} numbers for ${rows} rows instead of ${rows * inputs}.`,
      { code: "features-size", action: "Set the model's `inputs` to the number of features a row has." },
    );
  const wrong = values.findIndex((value: number) => !Number.isFinite(value));
  if (wrong < 0) return;
  throw new UserError(`Feature ${wrong % inputs} of row ${Math.floor(wrong / inputs)} is ${values[wrong]}.`, {
    code: "features-finite",
    action: "Give finite numbers: the code that makes the features must choose a number for a missing value.",
  });
}
