/**
 * Singular values of a matrix of any size by the eigenvalues of its Gram matrix, all of them, and the largest ones' vectors. In
 * float64 a value is known to 1e-8 of the largest: what float32 numbers themselves leave open.
 */
import { eigen } from "./eigen.ts";

/** Row after row. */
export interface Dense {
  readonly rows: number;
  readonly columns: number;
  readonly values: Float32Array;
}

export interface Spectrum {
  /** As many as the smaller side has, from the largest on. */
  readonly values: Float64Array;
  /** Left and right singular vectors of the largest values, as many as were asked for; fewer where the others are zero. */
  readonly left: readonly Float64Array[];
  readonly right: readonly Float64Array[];
}

/** So many products are summed of all pairs before the next: both sides stay in the processor's cache. */
const PANEL = 256;

/** [from, to) of the longer side: each vector of the smaller side as one row of the panel. */
function fillPanel({ rows, columns, values }: Dense, from: number, to: number, panel: Float64Array): void {
  if (columns <= rows) {
    for (let row = from; row < to; row++)
      for (let column = 0; column < columns; column++)
        panel[column * PANEL + row - from] = values[row * columns + column]!;
    return;
  }
  for (let row = 0; row < rows; row++)
    for (let column = from; column < to; column++)
      panel[row * PANEL + column - from] = values[row * columns + column]!;
}

/** Adds the products of rows i, i + 1 with rows j, j + 1 of a panel. */
function addSquare(panel: Float64Array, length: number, gram: Float64Array, n: number, i: number, j: number) {
  const [a, b] = [i * PANEL, Math.min(i + 1, n - 1) * PANEL];
  const [c, d] = [j * PANEL, Math.min(j + 1, n - 1) * PANEL];
  let [ac, ad, bc, bd] = [0, 0, 0, 0];
  for (let t = 0; t < length; t++) {
    const [pa, pb, pc, pd] = [panel[a + t]!, panel[b + t]!, panel[c + t]!, panel[d + t]!];
    ac += pa * pc;
    ad += pa * pd;
    bc += pb * pc;
    bd += pb * pd;
  }
  gram[i * n + j]! += ac;
  if (j + 1 < n) gram[i * n + j + 1]! += ad;
  if (i + 1 < n) gram[(i + 1) * n + j]! += bc;
  if (i + 1 < n && j + 1 < n) gram[(i + 1) * n + j + 1]! += bd;
}

/** Products of the smaller side's vectors with one another; the lower triangle is right, which is all that is read. */
function gramOf(of: Dense): Float64Array {
  const [n, long] = [Math.min(of.rows, of.columns), Math.max(of.rows, of.columns)];
  const gram = new Float64Array(n * n);
  const panel = new Float64Array(n * PANEL);
  for (let from = 0; from < long; from += PANEL) {
    const to = Math.min(long, from + PANEL);
    fillPanel(of, from, to, panel);
    for (let i = 0; i < n; i += 2) for (let j = 0; j <= i; j += 2) addSquare(panel, to - from, gram, n, i, j);
  }
  return gram;
}

/** W x, or Wᵀ x. */
function times({ rows, columns, values }: Dense, x: Float64Array, transposed: boolean): Float64Array {
  const y = new Float64Array(transposed ? columns : rows);
  for (let row = 0; row < rows; row++) {
    const from = row * columns;
    if (transposed) {
      const own = x[row]!;
      for (let column = 0; column < columns; column++) y[column]! += own * values[from + column]!;
      continue;
    }
    let sum = 0;
    for (let column = 0; column < columns; column++) sum += values[from + column]! * x[column]!;
    y[row] = sum;
  }
  return y;
}

/** Below this share of the largest, a value is rounding, and its vectors are any. */
const ZERO = 1e-7;

/** @param k how many vectors of each side are wanted */
export function spectrum(of: Dense, k = 0): Spectrum {
  const n = Math.min(of.rows, of.columns);
  const { values, vectors } = eigen(gramOf(of), n, k);
  const sizes = values.map((value) => Math.sqrt(Math.max(0, value)));
  const own = vectors.filter((_, i) => sizes[i]! > ZERO * sizes[0]!);
  const tall = of.columns <= of.rows;
  const other = own.map((x, i) => times(of, x, !tall).map((value) => value / sizes[i]!));
  return { values: sizes, left: tall ? other : own, right: tall ? own : other };
}
