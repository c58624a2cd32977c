/** One multilayer perceptron of a run as methods see it: itself, or a copy that follows it. */
import { UserError } from "../../../shared/lib/errors.ts";
import type { TrainablePerceptron } from "../../engine/perceptron/index.ts";
import type { Model } from "../../core/basics.ts";
import type { Features, Perceptron, PerceptronUpdate, WeighOutputs } from "../../core/policy.ts";

export interface ViewSetup<Engine> {
  readonly name: Model;
  readonly engine: Engine;
  /** What the engine calls these weights: `policy` (its own), or a snapshot's name. */
  readonly own: Model;
  readonly trains: boolean;
  /** Called after each update. */
  readonly updated: () => Promise<void>;
}

export class PerceptronView implements Perceptron {
  constructor(private readonly setup: ViewSetup<TrainablePerceptron>) {}

  get inputs(): number {
    return this.setup.engine.inputs;
  }
  get outputs(): number {
    return this.setup.engine.outputs;
  }
  get version(): number {
    return this.setup.engine.version;
  }
  predict(features: Features): Promise<Float64Array> {
    return this.setup.engine.predict(features, this.setup.own);
  }
  async update(features: Features, weigh: WeighOutputs, lr_scale?: number): Promise<PerceptronUpdate> {
    const { name, engine, trains, updated } = this.setup;
    if (!trains) throw frozen(name);
    const before = engine.version;
    const stats = await engine.update(features, weigh, lr_scale);
    if (engine.version !== before) await updated();
    return stats;
  }
}

/** A method trains what the config does not let it. */
export const frozen = (name: Model): UserError =>
  new UserError(`The model ${name} is frozen, but a method trains it.`, {
    code: "model-frozen",
    action: `Write models.${name}: { trains: true, optimizer: … }, or name a model that trains in the method.`,
  });
