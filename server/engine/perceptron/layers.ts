/**
 * A multilayer perceptron: h₀ = x, hᵢ₊₁ = act(hᵢ Wᵢ + bᵢ), and no activation after the last. Forward and backward, once
 * for every runtime.
 */
import type { Activation, PerceptronShape } from "../../core/blocks/models.ts";
import { Stream } from "../random.ts";
import { take, type Named, type Ops } from "../../core/ops.ts";

/** Extents of each layer's matrix. */
const extentsOf = ({ inputs, widths, outputs }: PerceptronShape): (readonly [number, number])[] => {
  const all = [inputs, ...widths, outputs];
  return all.slice(1).map((size, layer) => [all[layer]!, size]);
};
const layerCount = ({ widths }: PerceptronShape): number => widths.length + 1;

/** Every weight's name and extents: `<layer>.weight` `[in, out]` and `<layer>.bias` `[out]`. */
export const perceptronWeights = (shape: PerceptronShape): Record<string, readonly number[]> =>
  Object.fromEntries(
    extentsOf(shape).flatMap(([size, next], layer) => [
      [`${layer}.weight`, [size, next]],
      [`${layer}.bias`, [next]],
    ]),
  );

/** Uniform within ± 1/√(inputs of the layer), weights and biases: how PyTorch's `nn.Linear` begins. */
export function initialPerceptron(shape: PerceptronShape, seed: number): Record<string, Float32Array> {
  const layers = extentsOf(shape).flatMap(([size, next], layer) => {
    const bound = 1 / Math.sqrt(size);
    const drawn = (name: string, count: number): [string, Float32Array] => {
      const random = new Stream("perceptron", seed, layer, name);
      return [
        `${layer}.${name}`,
        Float32Array.from({ length: count }, () => bound * (2 * random.next() - 1)),
      ];
    };
    return [drawn("weight", size * next), drawn("bias", next)];
  });
  return Object.fromEntries(layers);
}

/** act(z), with what its derivative is made of. */
function activate<T>(ops: Ops<T>, activation: Activation, z: T): { active: T; kept: T } {
  switch (activation) {
    case "relu": {
      const positive = ops.atLeast(z, ops.floats(Float32Array.of(0), []));
      return { active: ops.mul(z, positive), kept: positive };
    }
    case "silu": {
      const sigmoid = ops.sigmoid(z);
      return { active: ops.mul(z, sigmoid), kept: sigmoid };
    }
    case "tanh": {
      // tanh(z) = 2σ(2z) − 1
      const sigmoid = ops.sigmoid(ops.scale(z, 2));
      return { active: ops.shift(ops.scale(sigmoid, 2), -1), kept: sigmoid };
    }
  }
}
/** Gradient by z from that by act(z). */
function activateBackward<T>(ops: Ops<T>, activation: Activation, z: T, kept: T, d: T): T {
  switch (activation) {
    case "relu":
      return ops.mul(d, kept);
    case "silu":
      return ops.add(ops.mul(d, kept), ops.sigmoidGradient(kept, ops.mul(d, z)));
    case "tanh":
      return ops.scale(ops.sigmoidGradient(kept, d), 4);
  }
}

interface Layer<T> {
  readonly input: T;
  readonly z: T;
  /** undefined after the last layer, which has no activation. */
  readonly kept: T | undefined;
}

/** features `[rows, inputs]` → outputs `[rows, outputs]`, and what the way back needs. */
export function perceptronForward<T>(
  ops: Ops<T>,
  shape: PerceptronShape,
  weights: Named<T>,
  features: T,
): { readonly outputs: T; readonly layers: readonly Layer<T>[] } {
  const layers: Layer<T>[] = [];
  let input = features;
  for (let layer = 0; layer < layerCount(shape); layer++) {
    const z = ops.add(ops.matmul(input, take(weights, `${layer}.weight`)), take(weights, `${layer}.bias`));
    const last = layer === layerCount(shape) - 1;
    const { active, kept } = last ? { active: z, kept: undefined } : activate(ops, shape.activation, z);
    layers.push({ input, z, kept });
    input = active;
  }
  return { outputs: input, layers };
}

/** Gradients by every weight, from that by the outputs. */
export function perceptronBackward<T>(
  ops: Ops<T>,
  shape: PerceptronShape,
  weights: Named<T>,
  layers: readonly Layer<T>[],
  byOutputs: T,
): Record<string, T> {
  const gradients: Record<string, T> = {};
  let d = byOutputs;
  for (let layer = layers.length - 1; layer >= 0; layer--) {
    const { input, z, kept } = layers[layer]!;
    const dz = kept === undefined ? d : activateBackward(ops, shape.activation, z, kept, d);
    gradients[`${layer}.weight`] = ops.matmul(input, dz, true, false);
    gradients[`${layer}.bias`] = ops.sumAxis(dz, 0);
    if (layer > 0) d = ops.matmul(dz, take(weights, `${layer}.weight`), false, true);
  }
  return gradients;
}
