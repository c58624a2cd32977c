/** Opening a multilayer perceptron on the policy's device. */
import type { OptimizerChoice } from "../../core/slots/optimizer.ts";
import type { TrainablePolicy } from "../policySetup.ts";
import type { PerceptronShape } from "../../core/blocks/models.ts";
export { activations, type PerceptronShape } from "../../core/blocks/models.ts";
import { initialPerceptron } from "./layers.ts";
import { TrainablePerceptron } from "./perceptron.ts";

export { perceptronWeights } from "./layers.ts";
export { TrainablePerceptron } from "./perceptron.ts";

export const openPerceptron = (options: {
  readonly shape: PerceptronShape;
  readonly optimizer: OptimizerChoice;
  /** Of the initial weights. */
  readonly seed: number;
  /** The model whose device it uses, too; that must be closed after this one. */
  readonly sharesWith: TrainablePolicy;
}): TrainablePerceptron =>
  new TrainablePerceptron({
    runtime: options.sharesWith.share().runtime,
    shape: options.shape,
    weights: initialPerceptron(options.shape, options.seed),
    optimizer: options.optimizer,
  });
