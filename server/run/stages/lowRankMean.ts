/**
 * The mean of low-rank adapters as what they do: Σ w_i A_i B_i, brought back to the adapter's rank by leaving its
 * smallest singular values out (the nearest matrix of that rank: Eckart and Young). All in float64.
 */
import { type Matrix, singularValues } from "../../lib/algebra/singularValues.ts";
/** What an adapter adds to a weight: A `[in, rank]` times B `[rank, out]`. */
export interface Product {
  readonly a: Matrix;
  readonly b: Matrix;
}
export interface Truncated extends Product {
  /** Squared norm of the mean, and of what the rank leaves out of it. */
  readonly whole: number;
  readonly lost: number;
}

export const matrix = (values: ArrayLike<number>, rows: number): Matrix => ({
  rows,
  columns: values.length / rows,
  values: Float64Array.from(values),
});

/** All columns side by side, each part's times a factor. */
function sideBySide(parts: readonly { readonly of: Matrix; readonly factor: number }[]): Matrix {
  const rows = parts[0]!.of.rows;
  const columns = parts.reduce((sum, { of }) => sum + of.columns, 0);
  const values = new Float64Array(rows * columns);
  let from = 0;
  for (const { of, factor } of parts) {
    for (let row = 0; row < rows; row++)
      for (let column = 0; column < of.columns; column++)
        values[row * columns + from + column] = factor * of.values[row * of.columns + column]!;
    from += of.columns;
  }
  return { rows, columns, values };
}

export function transposed({ rows, columns, values }: Matrix): Matrix {
  const turned = new Float64Array(values.length);
  for (let row = 0; row < rows; row++)
    for (let column = 0; column < columns; column++)
      turned[column * rows + row] = values[row * columns + column]!;
  return { rows: columns, columns: rows, values: turned };
}

export function product(one: Matrix, other: Matrix): Matrix {
  const values = new Float64Array(one.rows * other.columns);
  for (let row = 0; row < one.rows; row++)
    for (let k = 0; k < one.columns; k++) {
      const factor = one.values[row * one.columns + k]!;
      if (factor === 0) continue;
      for (let column = 0; column < other.columns; column++)
        values[row * other.columns + column]! += factor * other.values[k * other.columns + column]!;
    }
  return { rows: one.rows, columns: other.columns, values };
}

const scaledColumns = (
  { rows, columns, values }: Matrix,
  keep: number,
  factor: (k: number) => number,
): Matrix => ({
  rows,
  columns: keep,
  values: Float64Array.from(
    { length: rows * keep },
    (_, i) => values[Math.floor(i / keep) * columns + (i % keep)]! * factor(i % keep),
  ),
});

/**
 * With P = [w_1 A_1 … w_n A_n] = U S Vᵀ and Q = [B_1ᵀ … B_nᵀ]ᵀ: the mean is U (S Vᵀ Q), and the singular values of the small
 * matrix S Vᵀ Q are its own, for U has orthonormal columns.
 * @param weights sum to 1
 */
export function lowRankMean(parts: readonly Product[], weights: readonly number[]): Truncated {
  const rank = parts[0]!.a.columns;
  const p = singularValues(sideBySide(parts.map(({ a }, i) => ({ of: a, factor: weights[i]! }))));
  const q = transposed(sideBySide(parts.map(({ b }) => ({ of: transposed(b), factor: 1 }))));
  // Rows of Vᵀ Q, each times its singular value.
  const inner = product(transposed(scaledColumns(p.v, p.v.columns, (k) => p.s[k]!)), q);
  const { u, s, v } = singularValues(transposed(inner));
  const keep = Math.min(rank, s.length);
  const root = (k: number): number => Math.sqrt(s[k]!);
  // inner = (u s vᵀ)ᵀ = v s uᵀ.
  const left = product(p.u, scaledColumns(v, keep, root));
  const right = transposed(scaledColumns(u, keep, root));
  const squares = [...s].map((one) => one * one);
  return {
    a: widened(left, rank),
    b: transposed(widened(transposed(right), rank)),
    whole: squares.reduce((sum, one) => sum + one, 0),
    lost: squares.slice(keep).reduce((sum, one) => sum + one, 0),
  };
}

/** With columns of zeros up to a number. */
const widened = (of: Matrix, columns: number): Matrix =>
  of.columns === columns
    ? of
    : sideBySide([
        { of, factor: 1 },
        { of: matrix(new Float64Array(of.rows * (columns - of.columns)), of.rows), factor: 1 },
      ]);

/** ⟨A₁B₁, A₂B₂⟩ = Σ (A₁ᵀA₂) ∘ (B₁B₂ᵀ): the products themselves are never written out. */
export function innerProduct(one: Product, other: Product): number {
  const left = product(transposed(one.a), other.a).values;
  const right = product(one.b, transposed(other.b)).values;
  return left.reduce((sum, value, i) => sum + value * right[i]!, 0);
}
