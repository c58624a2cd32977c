/** Which weights an optimiser moves, and how their gradients come out of the backward pass. */
import type { Ops } from "./ops.ts";
import type { Named } from "./runtime.ts";
import { foldedNames, unfold } from "./transformer/fold.ts";
import { countOf, weightShapes, type Shape } from "./transformer/weights.ts";

export interface Trained {
  /** Tells sets apart: programs over equal keys are shared. */
  readonly key: string;
  /** Extents of the weights that move, by name, in a fixed order. */
  readonly weights: Named<readonly number[]>;
  /** Extents of further weights that `unfold` reads and nothing moves. */
  readonly frozen?: Named<readonly number[]>;
  /** Ranks of the gradients as the backward pass gives them, by name. */
  readonly gradients: Named<number>;
  /** From those, and all weights above, to a gradient for each of `weights`. */
  unfold<T>(ops: Ops<T>, weights: Named<T>, given: Named<T>): Record<string, T>;
}

/** Every weight of a model, from gradients by its folded matrices. */
export const wholeModel = (shape: Shape): Trained => ({
  key: "model",
  weights: weightShapes(shape),
  gradients: Object.fromEntries(foldedNames(shape).map((name) => [name, 2])),
  unfold: (ops, weights, given) => unfold(ops, shape, weights, given),
});

/** Vectors (gains, biases) do not decay. */
export const decays = (extents: readonly number[]): boolean => extents.length > 1;

export const trainedCount = ({ weights }: Trained): number =>
  Object.values(weights).reduce((total, extents) => total + countOf(extents), 0);
