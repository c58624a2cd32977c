/**
 * What a model has in addition to its decoder: value and reward heads on the final state, and low-rank adapters that
 * train in the decoder's place.
 */
import type { ValueHead } from "../core/blocks/models.ts";
import { take, type Named, type Ops, countOf } from "../core/ops.ts";
import type { TrainedWeights } from "./passes/trained.ts";
import { fold, foldedNames, foldedShapes, unfold } from "./transformer/fold.ts";
import { dropping } from "./transformer/dropout.ts";
import { dense, Gradients } from "./transformer/linear.ts";
import {
  adapterGains,
  adapterShapes,
  foldAdapter,
  foldedAdapterShapes,
  initialAdapter,
  lowRank,
  placesByMatrix,
  unfoldAdapter,
  type Adapter,
} from "./transformer/lowRank.ts";
import { foldsFinalGain } from "./transformer/norm.ts";
import { weightShapes, type Shape } from "./transformer/weights.ts";
export interface Parts {
  readonly shape: Shape;
  readonly heads: readonly ValueHead[];
  /** Undefined: every weight of the decoder trains. */
  readonly adapter: Adapter | undefined;
}

export const detachedHeads = ({ heads }: Parts): ReadonlySet<string> =>
  new Set(heads.filter(({ detach }) => detach).map(({ name }) => name));

/** Heads with a value for every word. */
export const wordHeads = ({ heads }: Pick<Parts, "heads">): ReadonlySet<string> =>
  new Set(heads.filter(({ words }) => words === true).map(({ name }) => name));
const outputsOf = ({ vocabulary }: Shape, { words }: ValueHead): number => (words === true ? vocabulary : 1);

/** Extents of the heads' weights: `heads.<name>` `[width, outputs]` and `heads.<name>_bias` `[outputs]`. */
export const headShapes = ({ shape, heads }: Parts): Record<string, readonly number[]> =>
  Object.fromEntries(
    heads.flatMap((head) => [
      [`heads.${head.name}`, [shape.width, outputsOf(shape, head)]],
      [`heads.${head.name}_bias`, [outputsOf(shape, head)]],
    ]),
  );
/** Extents of everything that trains. */
export const trainedShapes = (parts: Parts): Record<string, readonly number[]> => ({
  ...(parts.adapter === undefined ? weightShapes(parts.shape) : adapterShapes(parts.shape, parts.adapter)),
  ...headShapes(parts),
});

/** Adapters as PEFT begins them; heads at zero, so that every value begins at zero. */
export function initialParts(parts: Parts, seed: number): Record<string, Float32Array> {
  const { shape, adapter } = parts;
  const heads = Object.entries(headShapes(parts)).map(
    ([name, extents]) => [name, new Float32Array(countOf(extents))] as const,
  );
  return {
    ...(adapter === undefined ? {} : initialAdapter(shape, adapter, seed)),
    ...Object.fromEntries(heads),
  };
}

// ───────────────────────────────────────────────────────────────── folding

/** The final norm's gain is in the state that the heads see, but not in what is left of it where that gain is folded. */
const headsFold = ({ shape, heads }: Parts): boolean => heads.length > 0 && foldsFinalGain(shape);

/** The frozen vectors that folding an adapter and the heads reads. */
export function frozenNames(parts: Parts): string[] {
  const { shape, adapter } = parts;
  if (adapter === undefined) return [];
  return [...adapterGains(shape, adapter), ...(headsFold(parts) ? ["norm"] : [])];
}

/** The final norm's gain as a column. */
function finalGain<T>(ops: Ops<T>, shape: Shape, weights: Named<T>): T {
  const gain = ops.reshape(take(weights, "norm"), [shape.width, 1]);
  return shape.style.gain_offset === 0 ? gain : ops.shift(gain, shape.style.gain_offset);
}
function foldHeads<T>(ops: Ops<T>, parts: Parts, weights: Named<T>): Record<string, T> {
  const folded: Record<string, T> = {};
  for (const { name } of parts.heads) {
    const matrix = take(weights, `heads.${name}`);
    folded[`heads.${name}`] = headsFold(parts)
      ? ops.mul(matrix, finalGain(ops, parts.shape, weights))
      : matrix;
    folded[`heads.${name}_bias`] = ops.reshape(take(weights, `heads.${name}_bias`), [1, -1]);
  }
  return folded;
}
/** Gradients by the heads' weights, and what the attached ones add to the final gain's. */
function unfoldHeads<T>(
  ops: Ops<T>,
  parts: Parts,
  weights: Named<T>,
  given: Named<T>,
): { heads: Record<string, T>; gain: T[] } {
  const heads: Record<string, T> = {};
  const gain: T[] = [];
  for (const { name, detach } of parts.heads) {
    const matrix = `heads.${name}`;
    const byMatrix = take(given, matrix);
    heads[matrix] = headsFold(parts) ? ops.mul(byMatrix, finalGain(ops, parts.shape, weights)) : byMatrix;
    heads[`${matrix}_bias`] = ops.reshape(take(given, `${matrix}_bias`), [-1]);
    if (headsFold(parts) && !detach)
      gain.push(ops.reshape(ops.sum(ops.mul(byMatrix, take(weights, matrix))), [-1]));
  }
  return { heads, gain };
}

/** All that trains (and the frozen vectors) → what the programs multiply by; under an adapter, before merging. */
export const foldParts = <T>(ops: Ops<T>, parts: Parts, weights: Named<T>): Record<string, T> => ({
  ...(parts.adapter === undefined
    ? fold(ops, parts.shape, weights)
    : foldAdapter(ops, parts.shape, parts.adapter, weights)),
  ...foldHeads(ops, parts, weights),
});

/** Extents of a backward pass's gradients, by name: all are matrices. */
export const gradientShapes = (parts: Parts): Record<string, readonly [number, number]> => ({
  ...(parts.adapter === undefined
    ? foldedShapes(parts.shape)
    : foldedAdapterShapes(parts.shape, parts.adapter)),
  ...foldedHeadShapes(parts),
});
const foldedHeadShapes = ({ shape, heads }: Parts): Record<string, readonly [number, number]> =>
  Object.fromEntries(
    heads.flatMap((head) => [
      [`heads.${head.name}`, [shape.width, outputsOf(shape, head)]],
      [`heads.${head.name}_bias`, [1, outputsOf(shape, head)]],
    ]),
  );

/** Whether training takes other products than scoring: adapters then stay unmerged. */
export const drops = ({ adapter }: Parts): boolean => (adapter?.dropout ?? 0) > 0;
/** The feed of the masks' seed, in the programs of training. */
export const seedFeed = (parts: Parts): Record<string, { dtype: "int"; rank: number }> =>
  drops(parts) ? { seed: { dtype: "int", rank: 1 } } : {};

/** How a stream of a training program computes, and what collects its gradients. */
export function trainingOf<T>(
  ops: Ops<T>,
  parts: Parts,
  folded: Named<T>,
  seed: T | undefined,
  stream: number,
): { ops: Ops<T>; found: Gradients<T> } {
  const { shape, adapter } = parts;
  if (adapter === undefined) return { ops, found: new Gradients(ops, folded, dense(ops)) };
  if (seed === undefined) return { ops, found: new Gradients(ops, folded, lowRank(ops, folded)) };
  const apart = dropping(ops, shape, adapter, folded, seed, stream);
  return { ops: apart.ops, found: new Gradients(ops, folded, apart.matrixGradient) };
}
/** Those of what trains. */
export function trainedGradients<T>(parts: Parts, { found }: Gradients<T>): Record<string, T> {
  if (parts.adapter === undefined) return found;
  const known = gradientShapes(parts);
  return Object.fromEntries(Object.entries(found).filter(([name]) => known[name] !== undefined));
}

/** Names of folded values that the programs are fed, in addition to those of the decoder itself. */
const foldedPartNames = (parts: Parts): string[] => [
  ...(parts.adapter === undefined ? [] : Object.keys(foldedAdapterShapes(parts.shape, parts.adapter))),
  ...Object.keys(headShapes(parts)),
];
/** Names of the folded matrices that an adapter changes. */
export const mergedNames = ({ shape, adapter }: Parts): string[] =>
  adapter === undefined
    ? []
    : Array.from({ length: shape.layers }, (_, layer) =>
        [...placesByMatrix(shape, adapter).keys()].map((matrix) => `${layer}.${matrix}`),
      ).flat();

/** What the optimiser moves. */
export function trainedOf(parts: Parts): TrainedWeights {
  const { shape, adapter, heads } = parts;
  const frozen = Object.fromEntries(frozenNames(parts).map((name) => [name, weightShapes(shape)[name]!]));
  const names = heads
    .map(({ name, detach, words }) => `${name}${words ? " of words" : ""}${detach ? " (detached)" : ""}`)
    .join();
  return {
    key: [
      adapter === undefined ? "model" : `adapter ${adapter.rank} ${adapter.alpha} ${adapter.targets.join()}`,
      ...(names === "" ? [] : [`heads ${names}`]),
    ].join(" and "),
    weights: trainedShapes(parts),
    frozen,
    gradients: Object.fromEntries(Object.keys(gradientShapes(parts)).map((name) => [name, 2])),
    unfold(ops, weights, given) {
      const own = unfoldHeads(ops, parts, weights, given);
      if (adapter !== undefined)
        return { ...unfoldAdapter(ops, shape, adapter, weights, given), ...own.heads };
      const model = unfold(ops, shape, weights, given);
      const norm = own.gain.length === 0 ? {} : { norm: ops.addAll([take(model, "norm"), ...own.gain]) };
      return { ...model, ...norm, ...own.heads };
    },
  };
}

/** Names of all folded values that programs are fed. Each is a matrix. */
export const foldedPartsNames = (parts: Parts): string[] => [
  ...foldedNames(parts.shape),
  ...foldedPartNames(parts),
];
