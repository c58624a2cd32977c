/**
 * Dropout of an adapter's input while it trains: x·W + ((x ∘ m)·A)·B with m random and its mean 1. The merged matrix
 * cannot serve then, so every product with an adapted matrix is taken apart, forwards and backwards. The masks are
 * made again from their seed wherever they are needed: the two halves of a step see the same.
 */
import type { Named, Ops } from "../../core/ops.ts";
import type { MatrixGradient } from "./linear.ts";
import { type Adapter, placesByMatrix } from "./lowRank.ts";
import type { Shape } from "./weights.ts";

/** More than there are matrices in a layer. */
export const SALTS_PER_LAYER = 16;

interface Adapted<T> {
  readonly name: string;
  readonly a: T;
  readonly b: T;
  /** Extent of its input. */
  readonly rows: number;
  readonly salt: number;
}

/** The adapted matrices among those fed, by their values. */
function adaptedOf<T>(shape: Shape, adapter: Adapter, folded: Named<T>, stream: number): Map<T, Adapted<T>> {
  const found = new Map<T, Adapted<T>>();
  const matrices = [...placesByMatrix(shape, adapter)];
  for (let layer = 0; layer < shape.layers; layer++)
    matrices.forEach(([matrix, places], index) => {
      const name = `${layer}.${matrix}`;
      const [whole, a, b] = [folded[name], folded[`${name}.A`], folded[`${name}.B`]];
      if (whole === undefined || a === undefined || b === undefined) return;
      const salt = (stream * shape.layers + layer) * SALTS_PER_LAYER + index;
      found.set(whole, { name, a, b, rows: places[0]!.rows, salt });
    });
  return found;
}

/**
 * Operations whose products with the (unmerged) adapted matrices drop a share of the adapters' input, and the
 * gradients by A and B that belong to them.
 */
export function dropping<T>(
  ops: Ops<T>,
  shape: Shape,
  adapter: Adapter,
  folded: Named<T>,
  seed: T,
  stream: number,
): { ops: Ops<T>; matrixGradient: MatrixGradient<T> } {
  const adapted = adaptedOf(shape, adapter, folded, stream);
  const masks = new Map<string, T>();
  const maskOf = ({ name, rows, salt }: Adapted<T>, like: T): T => {
    const mask = masks.get(name) ?? ops.dropoutMask(ops.size(like, 0), rows, adapter.dropout, seed, salt);
    masks.set(name, mask);
    return mask;
  };
  const matmul = (x: T, matrix: T, transposeX = false, transposed = false): T => {
    const product = ops.matmul(x, matrix, transposeX, transposed);
    const found = transposeX ? undefined : adapted.get(matrix);
    if (found === undefined) return product;
    const { a, b } = found;
    const mask = maskOf(found, x);
    if (!transposed) return ops.add(product, ops.matmul(ops.matmul(ops.mul(x, mask), a), b));
    return ops.add(product, ops.mul(ops.matmul(ops.matmul(x, b, false, true), a, false, true), mask));
  };
  const byName = new Map([...adapted.values()].map((one) => [one.name, one]));
  return {
    ops: Object.setPrototypeOf({ matmul }, ops),
    matrixGradient(name, input, dz) {
      const found = byName.get(name);
      if (found === undefined) return {};
      const kept = ops.mul(input, maskOf(found, input));
      return {
        [`${name}.A`]: ops.matmul(kept, ops.matmul(dz, found.b, false, true), true),
        [`${name}.B`]: ops.matmul(ops.matmul(kept, found.a), dz, true),
      };
    },
  };
}
