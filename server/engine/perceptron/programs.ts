/** The programs of a multilayer perceptron. */
import { extentFeeds, float } from "../passes/feeds.ts";
import { take, type Named, type Ops } from "../../core/ops.ts";
import { prefixed, under, type ProgramSpec } from "../devices/runtime.ts";
import type { TrainedWeights } from "../passes/trained.ts";
import type { PerceptronShape } from "../../core/blocks/models.ts";
import { perceptronBackward, perceptronForward, perceptronWeights } from "./layers.ts";

const weightFeeds = (shape: PerceptronShape) => prefixed("w/", extentFeeds(perceptronWeights(shape)));

/** features `[rows, inputs]` → outputs `[rows, outputs]`. */
export const predictSpec = (shape: PerceptronShape): ProgramSpec => ({
  name: "perceptron",
  feeds: { ...weightFeeds(shape), features: float(2) },
  crossing: ["features", "outputs"],
  build: (ops, feeds) => ({
    outputs: perceptronForward(ops, shape, under(feeds, "w/"), take(feeds, "features")).outputs,
  }),
});

/** The same features with ∂loss/∂outputs → ∂loss/∂weights, by their names. */
export const gradientSpec = (shape: PerceptronShape): ProgramSpec => ({
  name: "gradient of the perceptron",
  feeds: { ...weightFeeds(shape), features: float(2), byOutputs: float(2) },
  crossing: ["features", "byOutputs"],
  build(ops, feeds) {
    const weights = under(feeds, "w/");
    const { layers } = perceptronForward(ops, shape, weights, take(feeds, "features"));
    return perceptronBackward(ops, shape, weights, layers, take(feeds, "byOutputs"));
  },
});

/** average · decay + weights · (1 − decay). */
export const averageSpec = (shape: PerceptronShape): ProgramSpec => {
  const shapes = perceptronWeights(shape);
  return {
    name: "average of the perceptron",
    feeds: { ...prefixed("a/", extentFeeds(shapes)), ...weightFeeds(shape), decay: float(0) },
    build<T>(ops: Ops<T>, feeds: Named<T>) {
      const mixed = (name: string): T => {
        const [average, weight] = [take(feeds, `a/${name}`), take(feeds, `w/${name}`)];
        return ops.add(weight, ops.mul(take(feeds, "decay"), ops.sub(average, weight)));
      };
      return Object.fromEntries(Object.keys(shapes).map((name) => [name, mixed(name)]));
    },
  };
};

/** All of its weights move, by gradients of their own extents. */
export function trainedPerceptron(shape: PerceptronShape): TrainedWeights {
  const weights = perceptronWeights(shape);
  const { inputs, widths, outputs } = shape;
  return {
    key: `perceptron ${[inputs, ...widths, outputs].join("-")}`,
    weights,
    gradients: Object.fromEntries(Object.entries(weights).map(([name, extents]) => [name, extents.length])),
    unfold: (_ops, _weights, given) => ({ ...given }),
  };
}
