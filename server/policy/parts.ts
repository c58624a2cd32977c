/**
 * What a model is made of beside its decoder: value and reward heads on the final state, and low-rank adapters that
 * train in the decoder's place.
 */
import type { Ops } from "./ops.ts";
import { take, type Named } from "./runtime.ts";
import type { Trained } from "./trained.ts";
import { dense, type MatrixGradient } from "./transformer/backward.ts";
import { fold, foldedNames, unfold } from "./transformer/fold.ts";
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
import { weightShapes, type Shape } from "./transformer/weights.ts";

/** One linear map from the final state to a number, channel `head:<name>`. */
export interface ValueHead {
  readonly name: string;
  /** Its gradient stops at the final state. */
  readonly detach: boolean;
}
export interface Parts {
  readonly shape: Shape;
  readonly heads: readonly ValueHead[];
  /** Undefined: every weight of the decoder trains. */
  readonly adapter: Adapter | undefined;
}

export const detachedHeads = ({ heads }: Parts): ReadonlySet<string> =>
  new Set(heads.filter(({ detach }) => detach).map(({ name }) => name));

/** Extents of the heads' weights: `heads.<name>` `[width, 1]` and `heads.<name>_bias` `[1]`. */
export const headShapes = ({ shape, heads }: Parts): Record<string, readonly number[]> =>
  Object.fromEntries(
    heads.flatMap(({ name }) => [
      [`heads.${name}`, [shape.width, 1]],
      [`heads.${name}_bias`, [1]],
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
    ([name, extents]) => [name, new Float32Array(extents[0]!)] as const,
  );
  return {
    ...(adapter === undefined ? {} : initialAdapter(shape, adapter, seed)),
    ...Object.fromEntries(heads),
  };
}

// ───────────────────────────────────────────────────────────────── folding

/** The frozen vectors that folding an adapter and the heads reads. */
export function frozenNames({ shape, heads, adapter }: Parts): string[] {
  if (adapter === undefined) return [];
  const final = heads.length === 0 ? [] : ["norm", ...(shape.style.norm === "layer" ? ["norm_bias"] : [])];
  return [...adapterGains(shape, adapter), ...final];
}

/** The final norm's gain as a column: the heads see the state behind it. */
function finalGain<T>(ops: Ops<T>, shape: Shape, weights: Named<T>): T {
  const gain = ops.reshape(take(weights, "norm"), [shape.width, 1]);
  return shape.style.gain_offset === 0 ? gain : ops.shift(gain, shape.style.gain_offset);
}
function foldHeads<T>(ops: Ops<T>, { shape, heads }: Parts, weights: Named<T>): Record<string, T> {
  const folded: Record<string, T> = {};
  for (const { name } of heads) {
    const [matrix, bias] = [take(weights, `heads.${name}`), take(weights, `heads.${name}_bias`)];
    folded[`heads.${name}`] = ops.mul(matrix, finalGain(ops, shape, weights));
    folded[`heads.${name}_bias`] =
      shape.style.norm === "layer"
        ? ops.add(
            bias,
            ops.reshape(ops.matmul(ops.reshape(take(weights, "norm_bias"), [1, -1]), matrix), [1]),
          )
        : bias;
  }
  return folded;
}
/** Gradients by the heads' weights; `norm` and `norm_bias` are what the attached ones add to the final norm's. */
function unfoldHeads<T>(
  ops: Ops<T>,
  { shape, heads }: Parts,
  weights: Named<T>,
  given: Named<T>,
): { heads: Record<string, T>; norm: T[]; normBias: T[] } {
  const gradients: Record<string, T> = {};
  const norm: T[] = [];
  const normBias: T[] = [];
  for (const { name, detach } of heads) {
    const matrix = `heads.${name}`;
    const [byMatrix, byBias] = [take(given, matrix), take(given, `${matrix}_bias`)];
    const scaled = ops.mul(byMatrix, finalGain(ops, shape, weights));
    const layerNorm = shape.style.norm === "layer";
    gradients[matrix] = layerNorm
      ? ops.add(scaled, ops.mul(ops.reshape(take(weights, "norm_bias"), [-1, 1]), byBias))
      : scaled;
    gradients[`${matrix}_bias`] = byBias;
    if (detach) continue;
    norm.push(ops.reshape(ops.mul(byMatrix, take(weights, matrix)), [-1]));
    if (layerNorm) normBias.push(ops.reshape(ops.mul(take(weights, matrix), byBias), [-1]));
  }
  return { heads: gradients, norm, normBias };
}

/** All that trains (and the frozen vectors) → what the programs multiply by; under an adapter, before merging. */
export const foldParts = <T>(ops: Ops<T>, parts: Parts, weights: Named<T>): Record<string, T> => ({
  ...(parts.adapter === undefined
    ? fold(ops, parts.shape, weights)
    : foldAdapter(ops, parts.shape, parts.adapter, weights)),
  ...foldHeads(ops, parts, weights),
});

/** Extents of a backward pass's gradients, by name. */
export function gradientShapes(parts: Parts): Record<string, readonly number[]> {
  const { shape, adapter } = parts;
  if (adapter !== undefined) return { ...foldedAdapterShapes(shape, adapter), ...headShapes(parts) };
  const weights: Named<readonly number[]> = { ...weightShapes(shape), head: [shape.vocabulary, shape.width] };
  const names = foldedNames(shape);
  return { ...Object.fromEntries(names.map((name) => [name, take(weights, name)])), ...headShapes(parts) };
}

/** How the gradient of a matrix is taken, for the decoder's backward pass. */
export const matrixGradientOf = <T>(ops: Ops<T>, parts: Parts, folded: Named<T>): MatrixGradient<T> =>
  parts.adapter === undefined ? dense(ops) : lowRank(ops, folded);

/** Names of folded values that the programs are fed, beside those of the decoder itself. */
export const foldedPartNames = (parts: Parts): string[] => [
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
export function trainedOf(parts: Parts): Trained {
  const { shape, adapter, heads } = parts;
  const frozen = Object.fromEntries(frozenNames(parts).map((name) => [name, weightShapes(shape)[name]!]));
  const gradients = gradientShapes(parts);
  const names = [...heads.map(({ name, detach }) => `${name}${detach ? " (detached)" : ""}`)].join();
  return {
    key: [
      adapter === undefined ? "model" : `adapter ${adapter.rank} ${adapter.alpha} ${adapter.targets.join()}`,
      ...(names === "" ? [] : [`heads ${names}`]),
    ].join(" and "),
    weights: trainedShapes(parts),
    frozen,
    gradients: Object.fromEntries(Object.entries(gradients).map(([name, extents]) => [name, extents.length])),
    unfold(ops, weights, given) {
      const own = unfoldHeads(ops, parts, weights, given);
      if (adapter !== undefined)
        return { ...unfoldAdapter(ops, shape, adapter, weights, given), ...own.heads };
      const model = unfold(ops, shape, weights, given);
      const plus = (name: string, more: typeof own.norm) =>
        more.length === 0 ? {} : { [name]: ops.addAll([take(model, name), ...more]) };
      return { ...model, ...plus("norm", own.norm), ...plus("norm_bias", own.normBias), ...own.heads };
    },
  };
}

/** Ranks of the folded values that programs are fed, by name. */
export const foldedRanks = (parts: Parts): Record<string, number> => ({
  ...Object.fromEntries(foldedNames(parts.shape).map((name) => [name, 2])),
  ...Object.fromEntries(
    foldedPartNames(parts).map((name) => [name, name.startsWith("heads.") && name.endsWith("_bias") ? 1 : 2]),
  ),
});
