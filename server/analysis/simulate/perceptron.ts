/** A network of one hidden layer, without an engine: what replaces a run's models in a simulation. */
import { normal } from "../../lib/distributions.ts";
import type { Random } from "../../lib/random.ts";
import type { Features, Perceptron, PerceptronUpdate, WeighOutputs } from "../../core/policy.ts";

const [hidden, rate, decay1, decay2, epsilon] = [16, 0.01, 0.9, 0.999, 1e-8];

/** y = v · tanh(W x + b) + c; trained by Adam. */
export class SimulatedPerceptron implements Perceptron {
  readonly inputs = 64;
  readonly outputs = 1;
  version = 0;
  /** Rows of W with their b, then v and c; and Adam's moments of them. */
  private readonly weights: Float64Array;
  private readonly first: Float64Array;
  private readonly second: Float64Array;

  constructor(random: Random) {
    const size = hidden * (this.inputs + 1) + hidden + 1;
    this.weights = Float64Array.from({ length: size }, (_, at) =>
      at < hidden * (this.inputs + 1) ? normal(random) / Math.sqrt(this.inputs) : 0,
    );
    this.weights[size - 1] = 0.5;
    this.first = new Float64Array(size);
    this.second = new Float64Array(size);
  }

  predict(features: Features): Promise<Float64Array> {
    return Promise.resolve(this.outputsOf(features));
  }
  update(features: Features, weigh: WeighOutputs): Promise<PerceptronUpdate> {
    const { loss, gradients, metrics = {} } = weigh(this.outputsOf(features));
    const by = this.backward(features, gradients);
    this.version += 1;
    by.forEach((g, at) => {
      this.first[at] = decay1 * this.first[at]! + (1 - decay1) * g;
      this.second[at] = decay2 * this.second[at]! + (1 - decay2) * g * g;
      const mean = this.first[at] / (1 - decay1 ** this.version);
      const square = this.second[at] / (1 - decay2 ** this.version);
      this.weights[at]! -= (rate * mean) / (Math.sqrt(square) + epsilon);
    });
    const norm = Math.sqrt(by.reduce((sum, g) => sum + g * g, 0));
    return Promise.resolve({ loss, grad_norm: norm, lr: rate, metrics });
  }

  private activations({ values }: Features, row: number): Float64Array {
    const { inputs, weights } = this;
    return Float64Array.from({ length: hidden }, (_, unit) => {
      const from = unit * (inputs + 1);
      let sum = weights[from + inputs]!;
      for (let i = 0; i < inputs; i++) sum += weights[from + i]! * values[row * inputs + i]!;
      return Math.tanh(sum);
    });
  }
  private get last(): number {
    return hidden * (this.inputs + 1);
  }
  private outputsOf(features: Features): Float64Array {
    const { weights, last } = this;
    return Float64Array.from({ length: features.rows }, (_, row) =>
      this.activations(features, row).reduce(
        (sum, a, unit) => sum + weights[last + unit]! * a,
        weights[last + hidden]!,
      ),
    );
  }
  private backward(features: Features, gradients: Float64Array): Float64Array {
    const { inputs, weights, last } = this;
    const by = new Float64Array(weights.length);
    for (let row = 0; row < features.rows; row++) {
      const g = gradients[row]!;
      by[last + hidden]! += g;
      this.activations(features, row).forEach((a, unit) => {
        by[last + unit]! += g * a;
        const inner = g * weights[last + unit]! * (1 - a * a);
        const from = unit * (inputs + 1);
        by[from + inputs]! += inner;
        for (let i = 0; i < inputs; i++) by[from + i]! += inner * features.values[row * inputs + i]!;
      });
    }
    return by;
  }
}
