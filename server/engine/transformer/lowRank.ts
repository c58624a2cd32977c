/**
 * Low-rank adapters (Hu et al., "LoRA: Low-Rank Adaptation of Large Language Models"): W + (alpha / rank)·A·B with W
 * frozen. Generation and scoring multiply by the merged matrix; the backward pass never forms its gradient:
 * dB = (x·A)ᵀ·dz and dA = xᵀ·(dz·Bᵀ), the factor and the folded gains inside A and B.
 *
 * The adapters of one matrix (queries, keys and values share `qkv`) lie side by side: A `[in, n · rank]`, and B
 * `[n · rank, out]` with zeros outside each one's own columns.
 */
import { targets, type Target } from "../../core/blocks/models.ts";
import { Stream } from "../random.ts";
import { take, type Named, type Ops, countOf } from "../../core/ops.ts";
import { columnFactor, rowGain } from "./fold.ts";
import type { MatrixGradient } from "./linear.ts";
import { headWidth, qkvWidth, type Shape } from "./weights.ts";

export interface Adapter {
  readonly rank: number;
  readonly alpha: number;
  readonly targets: readonly Target[];
  /** Of the adapter's input, while training. In [0, 1). */
  readonly dropout: number;
}
/** alpha / rank. */
const scaling = ({ alpha, rank }: Adapter): number => alpha / rank;

/** Where a target's product goes: columns `start … start + columns` of a matrix with `rows` rows. */
export interface TargetColumns {
  readonly target: Target;
  readonly matrix: "qkv" | "out" | "gate" | "up" | "down";
  readonly rows: number;
  readonly start: number;
  readonly columns: number;
  /** Columns of the whole matrix. */
  readonly of: number;
}
function placeOf(shape: Shape, target: Target): TargetColumns {
  const head = headWidth(shape);
  const [queries, keys] = [shape.heads * head, shape.kv_heads * head];
  const qkv = { target, matrix: "qkv", rows: shape.width, of: qkvWidth(shape) } as const;
  const alone = (matrix: "out" | "gate" | "up" | "down", rows: number, columns: number): TargetColumns => ({
    target,
    matrix,
    rows,
    start: 0,
    columns,
    of: columns,
  });
  switch (target) {
    case "q":
      return { ...qkv, start: 0, columns: queries };
    case "k":
      return { ...qkv, start: queries, columns: keys };
    case "v":
      return { ...qkv, start: queries + keys, columns: keys };
    case "o":
      return alone("out", queries, shape.width);
    case "down":
      return alone("down", shape.hidden, shape.width);
    default:
      return alone(target, shape.width, shape.hidden);
  }
}
/** Places of the adapters of each matrix that has any, in the order of the columns. */
export function placesByMatrix(
  shape: Shape,
  adapter: Adapter,
): ReadonlyMap<TargetColumns["matrix"], TargetColumns[]> {
  const found = new Map<TargetColumns["matrix"], TargetColumns[]>();
  for (const target of targets) {
    if (!adapter.targets.includes(target)) continue;
    if (target === "gate" && !shape.style.gated) continue;
    const place = placeOf(shape, target);
    found.set(place.matrix, [...(found.get(place.matrix) ?? []), place]);
  }
  return found;
}
const layersOf = (shape: Shape): number[] => Array.from({ length: shape.layers }, (_, layer) => layer);
function eachMatrix(
  shape: Shape,
  adapter: Adapter,
  visit: (layer: number, matrix: TargetColumns["matrix"], places: readonly TargetColumns[]) => void,
): void {
  const byMatrix = placesByMatrix(shape, adapter);
  for (const layer of layersOf(shape)) for (const [matrix, places] of byMatrix) visit(layer, matrix, places);
}

/** Extents of the adapters' own weights: `<layer>.<target>.A` `[in, rank]` and `.B` `[rank, out]`. */
export function adapterShapes(shape: Shape, adapter: Adapter): Record<string, readonly number[]> {
  const shapes: Record<string, readonly number[]> = {};
  eachMatrix(shape, adapter, (layer, _, places) => {
    for (const { target, rows, columns } of places) {
      shapes[`${layer}.${target}.A`] = [rows, adapter.rank];
      shapes[`${layer}.${target}.B`] = [adapter.rank, columns];
    }
  });
  return shapes;
}
/** The same after folding: `<layer>.<matrix>.A` and `.B`, as the gradients of a backward pass are named. */
export function foldedAdapterShapes(
  shape: Shape,
  adapter: Adapter,
): Record<string, readonly [number, number]> {
  const shapes: Record<string, readonly [number, number]> = {};
  eachMatrix(shape, adapter, (layer, matrix, places) => {
    const ranks = places.length * adapter.rank;
    shapes[`${layer}.${matrix}.A`] = [places[0]!.rows, ranks];
    shapes[`${layer}.${matrix}.B`] = [ranks, places[0]!.of];
  });
  return shapes;
}

/** A uniform in ±1/√in (Kaiming's with a = √5, as PEFT begins), B zero: the model begins as its base. */
export function initialAdapter(shape: Shape, adapter: Adapter, seed: number): Record<string, Float32Array> {
  const weights: Record<string, Float32Array> = {};
  for (const [name, extents] of Object.entries(adapterShapes(shape, adapter))) {
    const values = new Float32Array(countOf(extents));
    if (name.endsWith(".A")) {
      const random = new Stream(seed, "adapter", name);
      const bound = 1 / Math.sqrt(extents[0]!);
      for (let i = 0; i < values.length; i++) values[i] = bound * (2 * random.next() - 1);
    }
    weights[name] = values;
  }
  return weights;
}

/** Names of the frozen gains that folding reads. */
export function adapterGains(shape: Shape, adapter: Adapter): string[] {
  const norms = [...placesByMatrix(shape, adapter).keys()]
    .map((matrix) => rowGain(shape, matrix))
    .filter((norm) => norm !== undefined);
  return layersOf(shape).flatMap((layer) => [...new Set(norms)].map((norm) => `${layer}.${norm}`));
}
/** The gain of a layer's matrix as a column, times the adapter's scaling. */
function rowFactor<T>(
  ops: Ops<T>,
  shape: Shape,
  adapter: Adapter,
  weights: Named<T>,
  layer: number,
  matrix: string,
): T | undefined {
  const norm = rowGain(shape, matrix);
  if (norm === undefined) return undefined;
  const gain = ops.reshape(take(weights, `${layer}.${norm}`), [-1, 1]);
  const { gain_offset } = shape.style;
  return ops.scale(gain_offset === 0 ? gain : ops.shift(gain, gain_offset), scaling(adapter));
}
const times = <T>(ops: Ops<T>, x: T, factor: T | undefined): T =>
  factor === undefined ? x : ops.mul(x, factor);

/** From the adapters' weights (and the frozen gains) to A and B of each folded matrix. */
export function foldAdapter<T>(
  ops: Ops<T>,
  shape: Shape,
  adapter: Adapter,
  weights: Named<T>,
): Record<string, T> {
  const folded: Record<string, T> = {};
  eachMatrix(shape, adapter, (layer, matrix, places) => {
    const own = (place: TargetColumns, side: "A" | "B"): T =>
      take(weights, `${layer}.${place.target}.${side}`);
    const a =
      places.length === 1
        ? own(places[0]!, "A")
        : ops.concat(
            places.map((p) => own(p, "A")),
            1,
          );
    const rows = places.map((place) => {
      const before = place.start;
      const after = place.of - place.start - place.columns;
      const room = (columns: number): T[] => (columns === 0 ? [] : [ops.zeros([adapter.rank, columns])]);
      const row = [...room(before), own(place, "B"), ...room(after)];
      return row.length === 1 ? row[0]! : ops.concat(row, 1);
    });
    const b = rows.length === 1 ? rows[0]! : ops.concat(rows, 0);
    const factor = rowFactor(ops, shape, adapter, weights, layer, matrix);
    folded[`${layer}.${matrix}.A`] =
      factor === undefined ? ops.scale(a, scaling(adapter)) : ops.mul(a, factor);
    folded[`${layer}.${matrix}.B`] = times(ops, b, columnFactor(ops, shape, matrix));
  });
  return folded;
}

/** From gradients by the folded A and B to gradients by the adapters' weights. */
export function unfoldAdapter<T>(
  ops: Ops<T>,
  shape: Shape,
  adapter: Adapter,
  weights: Named<T>,
  given: Named<T>,
): Record<string, T> {
  const gradients: Record<string, T> = {};
  eachMatrix(shape, adapter, (layer, matrix, places) => {
    const ranks = places.map(() => adapter.rank);
    const factor = rowFactor(ops, shape, adapter, weights, layer, matrix);
    const wholeA = take(given, `${layer}.${matrix}.A`);
    const a = factor === undefined ? ops.scale(wholeA, scaling(adapter)) : ops.mul(wholeA, factor);
    const b = times(ops, take(given, `${layer}.${matrix}.B`), columnFactor(ops, shape, matrix));
    const [as, bs] = places.length === 1 ? [[a], [b]] : [ops.split(a, ranks, 1), ops.split(b, ranks, 0)];
    places.forEach((place, index) => {
      gradients[`${layer}.${place.target}.A`] = as[index]!;
      const after = place.of - place.start - place.columns;
      gradients[`${layer}.${place.target}.B`] =
        place.columns === place.of
          ? bs[index]!
          : ops.split(bs[index]!, [place.start, place.columns, after], 1)[1]!;
    });
  });
  return gradients;
}

/** A matrix with its adapter added. */
export const merge = <T>(ops: Ops<T>, base: T, a: T, b: T): T => ops.add(base, ops.matmul(a, b));
/** The same of all matrices whose adapters are there. */
export function mergeAll<T>(ops: Ops<T>, folded: Named<T>): Record<string, T> {
  const merged: Record<string, T> = { ...folded };
  for (const [name, base] of Object.entries(folded)) {
    const [a, b] = [folded[`${name}.A`], folded[`${name}.B`]];
    if (a !== undefined && b !== undefined) merged[name] = merge(ops, base, a, b);
  }
  return merged;
}

/** Gradients of the adapters alone; frozen matrices get none. */
export const lowRank =
  <T>(ops: Ops<T>, folded: Named<T>): MatrixGradient<T> =>
  (name, input, dz) => {
    const [a, b] = [folded[`${name}.A`], folded[`${name}.B`]];
    if (a === undefined || b === undefined) return {};
    return {
      [`${name}.A`]: ops.matmul(input, ops.matmul(dz, b, false, true), true),
      [`${name}.B`]: ops.matmul(ops.matmul(input, a), dz, true),
    };
  };

/** The same for saving: W + scaling · A·B of one weight, by its own name. `values` becomes the sum. */
export function mergedWeight(
  shape: Shape,
  adapter: Adapter,
  name: string,
  values: Float32Array,
  adapters: Named<Float32Array>,
): Float32Array {
  const [layer, matrix] = name.split(".");
  const places = [...placesByMatrix(shape, adapter)].find(([own]) => own === matrix)?.[1] ?? [];
  for (const { target, rows, start, columns, of } of places) {
    const [a, b] = [take(adapters, `${layer}.${target}.A`), take(adapters, `${layer}.${target}.B`)];
    for (let row = 0; row < rows; row++) {
      for (let r = 0; r < adapter.rank; r++) {
        const factor = scaling(adapter) * a[row * adapter.rank + r]!;
        if (factor === 0) continue;
        const [into, from] = [row * of + start, r * columns];
        for (let column = 0; column < columns; column++) values[into + column]! += factor * b[from + column]!;
      }
    }
  }
  return values;
}
