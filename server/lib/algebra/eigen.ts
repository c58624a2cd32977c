/**
 * Eigenvalues of a symmetric matrix, all of them, and eigenvectors of the largest: Householder's reflections to tridiagonal
 * form, bisection by Sturm's counts, inverse iteration. About 4/3 n³ operations, so that a thousand rows take a second.
 */
import { randomStream } from "../random.ts";

/** Numbers on the diagonal, and beside it. */
interface Tridiagonal {
  readonly d: Float64Array;
  /** e[i] stands between d[i] and d[i + 1]. */
  readonly e: Float64Array;
}
/** I − beta v vᵀ, v over rows from `first` on. */
interface Reflection {
  readonly v: Float64Array;
  readonly beta: number;
  readonly first: number;
}

/** p = beta · A v of the lower triangle from row `first` on. */
function timesLower(a: Float64Array, n: number, { v, beta, first }: Reflection): Float64Array {
  const p = new Float64Array(v.length);
  for (let i = 0; i < v.length; i++) {
    const row = (first + i) * n + first;
    const own = v[i]!;
    let sum = a[row + i]! * own;
    for (let j = 0; j < i; j++) {
      const value = a[row + j]!;
      sum += value * v[j]!;
      p[j]! += value * own;
    }
    p[i]! += sum;
  }
  for (let i = 0; i < p.length; i++) p[i]! *= beta;
  return p;
}

/** A ← H A H of that triangle: A − v wᵀ − w vᵀ with w = p − (beta/2)(pᵀv) v. */
function reflect(a: Float64Array, n: number, reflection: Reflection): void {
  const { v, beta, first } = reflection;
  const w = timesLower(a, n, reflection);
  const half = (beta / 2) * w.reduce((sum, value, i) => sum + value * v[i]!, 0);
  for (let i = 0; i < w.length; i++) w[i]! -= half * v[i]!;
  for (let i = 0; i < v.length; i++) {
    const row = (first + i) * n + first;
    const [vi, wi] = [v[i]!, w[i]!];
    for (let j = 0; j <= i; j++) a[row + j]! -= vi * w[j]! + wi * v[j]!;
  }
}

/** @param a its lower triangle is used up */
function tridiagonal(a: Float64Array, n: number): Tridiagonal & { readonly by: readonly Reflection[] } {
  const e = new Float64Array(Math.max(0, n - 1));
  const by: Reflection[] = [];
  for (let k = 0; k + 2 < n; k++) {
    const first = k + 1;
    const v = Float64Array.from({ length: n - first }, (_, i) => a[(first + i) * n + k]!);
    const norm = Math.sqrt(v.reduce((sum, value) => sum + value * value, 0));
    e[k] = v[0]! > 0 ? -norm : norm;
    v[0]! -= e[k]!;
    const square = v.reduce((sum, value) => sum + value * value, 0);
    if (square === 0) continue;
    const reflection = { v, beta: 2 / square, first };
    reflect(a, n, reflection);
    by.push(reflection);
  }
  if (n > 1) e[n - 2] = a[(n - 1) * n + n - 2]!;
  return { d: Float64Array.from({ length: n }, (_, i) => a[i * n + i]!), e, by };
}

/** How many eigenvalues are below `x`. */
function below({ d, e }: Tridiagonal, x: number, least: number): number {
  let count = 0;
  let q = 1;
  for (let i = 0; i < d.length; i++) {
    const beside = i === 0 ? 0 : e[i - 1]!;
    q = d[i]! - x - (beside * beside) / q;
    if (Math.abs(q) < least) q = -least;
    if (q < 0) count++;
  }
  return count;
}

/** A bound on every eigenvalue's size (Gershgorin). */
const boundOf = ({ d, e }: Tridiagonal): number =>
  d.reduce(
    (most, own, i) => Math.max(most, Math.abs(own) + Math.abs(e[i - 1] ?? 0) + Math.abs(e[i] ?? 0)),
    0,
  );

/** From the largest on, to the last bits of the largest. */
function eigenvaluesOf(of: Tridiagonal): Float64Array {
  const n = of.d.length;
  const bound = boundOf(of) * (1 + 1e-15);
  const values = new Float64Array(n);
  if (bound === 0) return values;
  const least = bound * 1e-300 || Number.MIN_VALUE;
  // Every count narrows the room of all eigenvalues.
  const [low, high] = [new Float64Array(n).fill(-bound), new Float64Array(n).fill(bound)];
  for (let place = 0; place < n; place++) {
    while (high[place]! - low[place]! > 2e-16 * bound) {
      const middle = (low[place]! + high[place]!) / 2;
      if (middle <= low[place]! || middle >= high[place]!) break;
      const count = below(of, middle, least);
      for (let i = place; i < count; i++) high[i] = Math.min(high[i]!, middle);
      for (let i = Math.max(place, count); i < n; i++) low[i] = Math.max(low[i]!, middle);
    }
    values[n - 1 - place] = (low[place]! + high[place]!) / 2;
  }
  return values;
}

/** x with (T − λ) x = b, by elimination with pivots; where a pivot is zero, one of the last bits stands in. */
function shiftedSolve({ d, e }: Tridiagonal, lambda: number, b: Float64Array, least: number): Float64Array {
  const n = d.length;
  // Rows of the upper triangle: the diagonal and two beside it.
  const [u0, u1, u2] = [d.map((own) => own - lambda), new Float64Array(n), new Float64Array(n)];
  for (let i = 0; i + 1 < n; i++) u1[i] = e[i]!;
  const x = Float64Array.from(b);
  for (let i = 0; i + 1 < n; i++) {
    const under = e[i]!;
    if (Math.abs(under) > Math.abs(u0[i]!)) {
      const factor = u0[i]! / under;
      const [own, beside] = [u1[i]!, u2[i]!];
      [u0[i], u1[i], u2[i]] = [under, u0[i + 1]!, u1[i + 1]!];
      [u0[i + 1], u1[i + 1]] = [own - factor * u1[i]!, beside - factor * u2[i]!];
      [x[i], x[i + 1]] = [x[i + 1]!, x[i]! - factor * x[i + 1]!];
    } else {
      if (u0[i] === 0) u0[i] = least;
      const factor = under / u0[i]!;
      u0[i + 1]! -= factor * u1[i]!;
      u1[i + 1]! -= factor * u2[i]!;
      x[i + 1]! -= factor * x[i]!;
    }
  }
  for (let i = n - 1; i >= 0; i--) {
    if (Math.abs(u0[i]!) < least) u0[i] = least;
    const known = (i + 1 < n ? u1[i]! * x[i + 1]! : 0) + (i + 2 < n ? u2[i]! * x[i + 2]! : 0);
    x[i] = (x[i]! - known) / u0[i]!;
  }
  return x;
}

/** To length 1, and orthogonal to those that were found. */
function straighten(x: Float64Array, found: readonly Float64Array[]): void {
  for (let turn = 0; turn < 2; turn++) {
    const most = x.reduce((size, value) => Math.max(size, Math.abs(value)), 0);
    for (let i = 0; i < x.length; i++) x[i]! /= most;
    for (const other of found) {
      let along = 0;
      for (let i = 0; i < x.length; i++) along += x[i]! * other[i]!;
      for (let i = 0; i < x.length; i++) x[i]! -= along * other[i]!;
    }
    const norm = Math.sqrt(x.reduce((sum, value) => sum + value * value, 0));
    for (let i = 0; i < x.length; i++) x[i]! /= norm;
  }
}

/** Eigenvectors of these eigenvalues: equal ones get an orthogonal basis of their space. */
function eigenvectorsOf(of: Tridiagonal, values: Float64Array): Float64Array[] {
  const random = randomStream("eigenvectors");
  const least = 1e-16 * (boundOf(of) || 1);
  const found: Float64Array[] = [];
  for (const lambda of values) {
    let x: Float64Array = of.d.map(() => 2 * random.next() - 1);
    straighten(x, found);
    for (let turn = 0; turn < 4; turn++) {
      x = shiftedSolve(of, lambda, x, least);
      straighten(x, found);
    }
    found.push(x);
  }
  return found;
}

interface Eigen {
  /** From the largest on. */
  readonly values: Float64Array;
  /** Of the first so many. */
  readonly vectors: readonly Float64Array[];
}

/** @param a symmetric, row after row; it is used up @param k how many eigenvectors are wanted */
export function eigen(a: Float64Array, n: number, k = 0): Eigen {
  const form = tridiagonal(a, n);
  const values = eigenvaluesOf(form);
  const vectors = eigenvectorsOf(form, values.subarray(0, Math.min(k, n)));
  for (const x of vectors)
    for (const { v, beta, first } of form.by.toReversed()) {
      let along = 0;
      for (let i = 0; i < v.length; i++) along += v[i]! * x[first + i]!;
      for (let i = 0; i < v.length; i++) x[first + i]! -= beta * along * v[i]!;
    }
  return { values, vectors };
}
