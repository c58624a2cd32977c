/** Which weights an optimiser moves, and how their gradients come out of the backward pass. */
import { type Named, type Ops, countOf } from "../../core/ops.ts";

export interface TrainedWeights {
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

/** Vectors (gains, biases) do not decay. */
export const decays = (extents: readonly number[]): boolean => extents.length > 1;

export const trainedCount = ({ weights }: TrainedWeights): number =>
  Object.values(weights).reduce((total, extents) => total + countOf(extents), 0);
