/** How a model knows where a token is: rotary tables, learned vectors, and which positions a layer may see. */
import { ROUND, roundUp } from "../passes/layout.ts";
import type { Dim, Ops } from "../../core/ops.ts";
import { headWidth, type Shape } from "./weights.ts";

/** Rotary tables of models that promise more would take more memory than a row of that length ever leaves. */
const MOST_POSITIONS = 32_768;
/** The longest row that this engine computes, in tokens. */
export const usableContext = ({ context, style }: Shape): number =>
  style.positions === "learned" ? context : Math.min(context, MOST_POSITIONS);
/** Rows are padded to a round length, which may pass the context by a little. */
export const tablePositions = (shape: Shape): number => roundUp(usableContext(shape), ROUND) + ROUND;

/** Layer l sees only a window. */
const isLocal = ({ style }: Shape, layer: number): boolean => style.window?.layers[layer] ?? false;
const anyLayer = (shape: Shape, local: boolean): boolean =>
  Array.from({ length: shape.layers }, (_, layer) => isLocal(shape, layer)).includes(local);
/** Local layers turn by angles of their own. */
const twoTables = ({ style, rope_theta }: Shape): boolean =>
  style.window !== null && (style.window.rope_theta !== rope_theta || style.rope_scaling !== null);

/**
 * Angle per position of each rotary pair: θ^(−i/pairs) (Su et al., "RoFormer"), divided by a factor (linear), or
 * divided only where a whole turn takes longer than the context the model was first trained on, with a smooth
 * passage between (Llama 3.1).
 */
function frequency({ rope_theta, style }: Shape, pair: number, pairs: number): number {
  const plain = rope_theta ** (-pair / pairs);
  const scaling = style.rope_scaling;
  if (scaling === null) return plain;
  if (scaling.type === "linear") return plain / scaling.factor;
  const turns = (scaling.original_context * plain) / (2 * Math.PI);
  const { factor, low_freq_factor: low, high_freq_factor: high } = scaling;
  const kept = Math.min(1, Math.max(0, (turns - low) / (high - low)));
  return (1 - kept) * (plain / factor) + kept * plain;
}

/** Extents of `rotaryTable`: `[positions, tables · head width / 2, 2]`. */
export const rotaryExtents = (shape: Shape): [number, number, number] => [
  tablePositions(shape),
  (twoTables(shape) ? 2 : 1) * (headWidth(shape) / 2),
  2,
];
/** cos and sin of every position and pair; where local layers have angles of their own, those follow. */
export function rotaryTable(shape: Shape): Float32Array {
  const pairs = headWidth(shape) / 2;
  const [positions, all] = rotaryExtents(shape);
  const angles = Array.from({ length: all }, (_, pair) =>
    pair < pairs
      ? frequency(shape, pair, pairs)
      : (shape.style.window?.rope_theta ?? 1) ** (-(pair - pairs) / pairs),
  );
  const table = new Float32Array(positions * all * 2);
  for (let position = 0; position < positions; position++) {
    angles.forEach((angle, pair) => {
      table[(position * all + pair) * 2] = Math.cos(position * angle);
      table[(position * all + pair) * 2 + 1] = Math.sin(position * angle);
    });
  }
  return table;
}

/** Each layer's rows of the table for these positions, `[positions, pairs, 2]`, as `spread` makes them. */
export function turns<T>(
  ops: Ops<T>,
  shape: Shape,
  rotary: T,
  positions: T,
  spread: (rows: T) => T = (rows) => rows,
): (layer: number) => T {
  const rows = ops.gather(rotary, positions);
  const pairs = headWidth(shape) / 2;
  const [far, near] = (twoTables(shape) ? ops.split(rows, [pairs, pairs], 1) : [rows]).map(spread);
  return (layer) => (near !== undefined && isLocal(shape, layer) ? near : far!);
}

/** Each layer's mask of `n` columns for these positions, `[positions, n]`, as `spread` makes it. */
export function masks<T>(
  ops: Ops<T>,
  shape: Shape,
  positions: T,
  n: Dim<T>,
  spread: (mask: T) => T = (mask) => mask,
): (layer: number) => T {
  const make = (window?: number): T => spread(ops.futureMask(positions, n, window));
  const far = anyLayer(shape, false) ? make() : undefined;
  const near = anyLayer(shape, true) ? make(shape.style.window?.tokens) : undefined;
  return (layer) => (isLocal(shape, layer) ? near : far)!;
}
