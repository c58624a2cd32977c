/** All weights of a model as a run without a base draws them. */
import { initialWeight, weightShapes, type Shape } from "../../server/engine/transformer/weights.ts";

export const initialWeights = (shape: Shape, seed: number): Record<string, Float32Array> =>
  Object.fromEntries(
    Object.entries(weightShapes(shape)).map(([name, extents]) => [
      name,
      initialWeight(shape, seed, name, extents),
    ]),
  );
