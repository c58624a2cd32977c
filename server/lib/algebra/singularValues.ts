/** Singular values of a matrix of few columns, by one-sided Jacobi rotations. */

/** M = u · diag(s) · vᵀ: columns of u and v orthonormal (of u, zero where s is), s from the largest on. */
interface Singular {
  readonly u: Matrix;
  readonly s: Float64Array;
  readonly v: Matrix;
}

const sweeps = 60;
const tolerance = 1e-14;

/** Turns two columns so that they are orthogonal, and a second matrix with them; false: they were. */
function turn(columns: Float64Array[], turned: Float64Array[], i: number, j: number): boolean {
  const [x, y] = [columns[i]!, columns[j]!];
  let [xx, yy, xy] = [0, 0, 0];
  for (let k = 0; k < x.length; k++) {
    xx += x[k]! * x[k]!;
    yy += y[k]! * y[k]!;
    xy += x[k]! * y[k]!;
  }
  if (Math.abs(xy) <= tolerance * Math.sqrt(xx * yy)) return false;
  const zeta = (yy - xx) / (2 * xy);
  const tangent = (zeta >= 0 ? 1 : -1) / (Math.abs(zeta) + Math.sqrt(1 + zeta * zeta));
  const cosine = 1 / Math.sqrt(1 + tangent * tangent);
  const sine = cosine * tangent;
  for (const [one, other] of [[x, y] as const, [turned[i]!, turned[j]!] as const])
    for (let k = 0; k < one.length; k++) {
      const [a, b] = [one[k]!, other[k]!];
      one[k] = cosine * a - sine * b;
      other[k] = sine * a + cosine * b;
    }
  return true;
}

const columnsOf = ({ rows, columns, values }: Matrix): Float64Array[] =>
  Array.from({ length: columns }, (_, column) =>
    Float64Array.from({ length: rows }, (_, row) => values[row * columns + column]!),
  );

const joined = (columns: readonly Float64Array[], rows: number): Matrix => {
  const values = new Float64Array(rows * columns.length);
  columns.forEach((column, j) => column.forEach((value, i) => (values[i * columns.length + j] = value)));
  return { rows, columns: columns.length, values };
};

export function singularValues(of: Matrix): Singular {
  const n = of.columns;
  const columns = columnsOf(of);
  const v = Array.from({ length: n }, (_, i) => Float64Array.from({ length: n }, (_, j) => Number(i === j)));
  for (let sweep = 0; sweep < sweeps; sweep++) {
    let moved = false;
    for (let i = 0; i < n; i++) for (let j = i + 1; j < n; j++) moved = turn(columns, v, i, j) || moved;
    if (!moved) break;
  }
  const norms = columns.map((column) => Math.hypot(...column));
  const order = norms.map((_, i) => i).sort((a, b) => norms[b]! - norms[a]!);
  const u = order.map((i) => columns[i]!.map((value) => (norms[i] === 0 ? 0 : value / norms[i]!)));
  return {
    u: joined(u, of.rows),
    s: Float64Array.from(order, (i) => norms[i]!),
    v: joined(
      order.map((i) => v[i]!),
      n,
    ),
  };
}

/** Rows of equal length, one after the other. */
export interface Matrix {
  readonly rows: number;
  readonly columns: number;
  readonly values: Float64Array;
}
