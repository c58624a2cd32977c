/**
 * The programs of one model. Those that train and score take one micro-batch per stream (feeds `0/ids`, `1/ids`, …):
 * the streams share no operation but the weights, so a runtime may compute them side by side.
 */
import type { Channel } from "../../core/policy.ts";
import { extentFeeds, float, matrixFeeds, type Feeds } from "./feeds.ts";
import * as layered from "./layeredPrograms.ts";
import {
  drops,
  foldParts,
  frozenNames,
  gradientShapes,
  trainedOf,
  trainedShapes,
  type Parts,
} from "../parts.ts";
import { ProgramCache } from "../devices/programCache.ts";
import { take, type Named, type Ops } from "../../core/ops.ts";
import {
  prefixed,
  under,
  type Program,
  type DeviceTensor,
  type ProgramSpec,
  type Runtime,
  type Tensors,
} from "../devices/runtime.ts";
import { foldMatrix, foldSources } from "../transformer/fold.ts";
import { merge } from "../transformer/lowRank.ts";
import { weightShapes, type Shape } from "../transformer/weights.ts";
import * as texts from "./textPrograms.ts";
import * as whole from "./wholePrograms.ts";

export { perStream, streamNumbers } from "./feeds.ts";

const frozenFeeds = (parts: Parts): Feeds =>
  Object.fromEntries(
    frozenNames(parts).map((name) => [name, float(weightShapes(parts.shape)[name]!.length)]),
  );

/** The weights that one folded matrix is made of → that matrix. */
const foldMatrixSpec = (shape: Shape, name: string): ProgramSpec => {
  const shapes = weightShapes(shape);
  const { names } = foldSources(shape, name);
  return {
    name: `fold ${name}`,
    feeds: extentFeeds(Object.fromEntries(names.map((own) => [own, take(shapes, own)]))),
    build: (ops, feeds) => ({ folded: foldMatrix(ops, shape, feeds, name) }),
  };
};

/** Everything that trains → matrices the other programs multiply by; of an adapter, A and B. */
const foldPartsSpec = (parts: Parts): ProgramSpec => ({
  name: "fold all parts",
  feeds: { ...extentFeeds(trainedShapes(parts)), ...frozenFeeds(parts) },
  build: (ops, feeds) => foldParts(ops, parts, feeds),
});
/** A matrix of the base and its adapter → the two as one. */
const mergeSpec: ProgramSpec = {
  name: "merge",
  feeds: { base: float(2), A: float(2), B: float(2) },
  build: (ops, feeds) => ({ merged: merge(ops, take(feeds, "base"), take(feeds, "A"), take(feeds, "B")) }),
};

/** a + b, matrix by matrix; they go by their number. */
const accumulateSpec = (count: number): ProgramSpec => {
  const names = Array.from({ length: count }, (_, index) => String(index));
  return {
    name: "accumulate",
    feeds: { ...matrixFeeds("a/", names), ...matrixFeeds("b/", names) },
    build: (ops, feeds) =>
      Object.fromEntries(
        names.map((name) => [name, ops.add(take(feeds, `a/${name}`), take(feeds, `b/${name}`))]),
      ),
  };
};

const gradientFeeds = (parts: Parts): Feeds => ({
  ...prefixed("w/", { ...extentFeeds(trainedShapes(parts)), ...frozenFeeds(parts) }),
  ...matrixFeeds("g/", Object.keys(gradientShapes(parts))),
});
/** folded gradients → gradients by the weights, as tests read them. */
const gradientSpec = (parts: Parts): ProgramSpec => ({
  name: "gradient",
  feeds: gradientFeeds(parts),
  build: (ops, feeds) => trainedOf(parts).unfold(ops, under(feeds, "w/"), under(feeds, "g/")),
});
/** One sequence's folded gradients, scaled so that the norm by the weights is at most `limit`. */
const clipSpec = (parts: Parts): ProgramSpec => ({
  name: "clip one sequence",
  feeds: { ...gradientFeeds(parts), limit: float(0) },
  build(ops, feeds) {
    const given = under(feeds, "g/");
    const own = Object.values(trainedOf(parts).unfold(ops, under(feeds, "w/"), given));
    const norm = ops.sqrt(ops.addAll(own.map((gradient) => ops.sumEverything(ops.square(gradient)))));
    const one = ops.floats(Float32Array.of(1), []);
    const factor = ops.minimum(one, ops.div(take(feeds, "limit"), ops.shift(norm, 1e-12)));
    return Object.fromEntries(
      Object.entries(given).map(([name, gradient]) => [name, ops.mul(gradient, factor)]),
    );
  },
});

/** average · decay + weights · (1 − decay). */
const averageSpec = (parts: Parts): ProgramSpec => {
  const shapes = trainedShapes(parts);
  return {
    name: "average",
    feeds: {
      ...prefixed("a/", extentFeeds(shapes)),
      ...prefixed("w/", extentFeeds(shapes)),
      decay: float(0),
    },
    build<T>(ops: Ops<T>, feeds: Named<T>) {
      const mixed = (name: string) => {
        const average = take(feeds, `a/${name}`);
        const weight = take(feeds, `w/${name}`);
        return ops.add(weight, ops.mul(take(feeds, "decay"), ops.sub(average, weight)));
      };
      return Object.fromEntries(Object.keys(shapes).map((name) => [name, mixed(name)]));
    },
  };
};

/** The programs of one model. */
export class Programs extends ProgramCache {
  constructor(
    runtime: Runtime,
    readonly parts: Parts,
    /** Matrices that follow from others are made when they are asked for, and let go when they need not stay. */
    readonly lean = false,
  ) {
    super(runtime);
  }
  get shape(): Shape {
    return this.parts.shape;
  }
  private get streams(): number {
    return this.runtime.streams;
  }
  /** One folded matrix. All layers share a program, whose feeds carry the number of the first. */
  foldMatrix(name: string, weights: Tensors): DeviceTensor {
    const first = (own: string): string => own.replace(/^\d+\./, "0.");
    const program = this.get(`fold ${first(name)}`, () => foldMatrixSpec(this.shape, first(name)));
    const feeds = Object.entries(weights).map(([own, tensor]) => [first(own), tensor] as const);
    return take(program.run(Object.fromEntries(feeds)), "folded");
  }
  merge = (): Program => this.get("merge", () => mergeSpec);
  foldParts = (): Program => this.get("fold parts", () => foldPartsSpec(this.parts));
  accumulate = (count: number): Program => this.get(`accumulate ${count}`, () => accumulateSpec(count));
  gradient = (): Program => this.get("gradient", () => gradientSpec(this.parts));
  clip = (): Program => this.get("clip", () => clipSpec(this.parts));
  average = (): Program => this.get("average", () => averageSpec(this.parts));

  // ── a whole micro-batch in one run
  states = (): Program => this.get("states", () => whole.statesSpec(this.parts, this.streams));
  /** `training` differs from scoring only under dropout. */
  forward = (channels: readonly Channel[], keep: boolean, training: boolean): Program => {
    const apart = training && drops(this.parts);
    return this.get(`${keep ? "forward" : "score"} ${apart} ${channels.join()}`, () =>
      whole.forwardSpec(this.parts, this.streams, channels, keep, apart),
    );
  };
  backward = (channels: readonly Channel[]): Program =>
    this.get(`backward ${channels.join()}`, () => whole.backwardSpec(this.parts, this.streams, channels));
  fused = (channels: readonly Channel[]): Program =>
    this.get(`fused ${channels.join()}`, () => whole.fusedSpec(this.parts, this.streams, channels));

  // ── layer by layer, and the head in pieces
  embed = (): Program => this.get("embed", () => layered.embedSpec(this.parts, this.streams));
  embedBackward = (): Program =>
    this.get("embed backward", () => layered.embedBackwardSpec(this.parts, this.streams));
  layerForward = (layer: number, keep: boolean, products: layered.Products): Program =>
    this.get(`layer ${layer} ${keep} ${products}`, () =>
      layered.layerSpec(this.parts, this.streams, layer, keep, products),
    );
  angles = (layer: number, products: layered.Products): Program =>
    this.get(`angles ${layer} ${products}`, () =>
      layered.anglesSpec(this.parts, this.streams, layer, products),
    );
  pool = (): Program => this.get("pool", () => texts.poolSpec(this.parts, this.streams));
  next = (): Program => this.get("next", () => texts.nextSpec(this.parts, this.streams));
  layerBackward = (layer: number, kept: boolean, products: layered.Products): Program =>
    this.get(`layer ${layer} backward ${kept} ${products}`, () =>
      layered.layerBackwardSpec(this.parts, this.streams, layer, kept, products),
    );
  finish = (): Program => this.get("finish", () => layered.finishSpec(this.parts, this.streams));
  finishBackward = (): Program =>
    this.get("finish backward", () => layered.finishBackwardSpec(this.parts, this.streams));
  head = (channels: readonly Channel[], others: readonly string[]): Program =>
    this.get(`head ${channels.join()}`, () => layered.headSpec(this.parts, this.streams, channels, others));
  headBackward = (channels: readonly Channel[], others: readonly string[]): Program =>
    this.get(`head backward ${channels.join()}`, () =>
      layered.headBackwardSpec(this.parts, this.streams, channels, others),
    );
}
