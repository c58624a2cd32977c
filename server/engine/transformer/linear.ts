/** Products with a folded matrix and its bias, and the collection of their gradients. */
import { take, type Named, type Ops } from "../../core/ops.ts";

/** x·W + b; not every matrix has a bias. */
export function linear<T>(ops: Ops<T>, folded: Named<T>, name: string, x: T): T {
  const product = ops.matmul(x, take(folded, name));
  const bias = folded[`${name}_bias`];
  return bias === undefined ? product : ops.add(product, bias);
}
/** Gradient by x. */
export const linearBackward = <T>(ops: Ops<T>, folded: Named<T>, name: string, dz: T): T =>
  ops.matmul(dz, take(folded, name), false, true);

/**
 * Gradients by one matrix `[in, out]` from its input `[tokens, in]` and the gradient by its output `[tokens, out]`,
 * under the names they are to have: none where the matrix is frozen, two where it is a low-rank sum.
 */
export type MatrixGradient<T> = (name: string, input: T, dz: T) => Named<T>;
/** The whole matrix. */
export const dense =
  <T>(ops: Ops<T>): MatrixGradient<T> =>
  (name, input, dz) => ({ [name]: ops.matmul(input, dz, true) });

/** Gradients by the folded matrices, as the backward pass comes by them. */
export class Gradients<T> {
  readonly found: Record<string, T> = {};
  constructor(
    private readonly ops: Ops<T>,
    private readonly folded: Named<T>,
    private readonly matrixGradient: MatrixGradient<T>,
  ) {}
  matrix(name: string, input: T, dz: T): void {
    Object.assign(this.found, this.matrixGradient(name, input, dz));
    if (this.folded[`${name}_bias`] !== undefined) this.vector(`${name}_bias`, dz);
  }
  /** A row that was added to, or multiplied with, every token: the sum over tokens. */
  vector(name: string, byToken: T): void {
    this.found[name] = this.ops.sumAxis(byToken, 0, true);
  }
}
