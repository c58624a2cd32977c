/** Small dense symmetric systems. Matrices are row after row. */

/** L with L Lᵀ = A + jitter, lower triangular; the jitter grows until A is positive definite. */
export function cholesky(a: Float64Array, n: number, jitter = 0): Float64Array {
  const l = new Float64Array(n * n);
  for (let i = 0; i < n; i++)
    for (let j = 0; j <= i; j++) {
      let sum = a[i * n + j]! + (i === j ? jitter : 0);
      for (let k = 0; k < j; k++) sum -= l[i * n + k]! * l[j * n + k]!;
      if (i === j && !(sum > 0)) return cholesky(a, n, jitter === 0 ? 1e-12 : 10 * jitter);
      l[i * n + j] = i === j ? Math.sqrt(sum) : sum / l[j * n + j]!;
    }
  return l;
}

/** y with L y = b. */
export function forward(l: Float64Array, b: ArrayLike<number>): Float64Array {
  const n = b.length;
  const y = new Float64Array(n);
  for (let i = 0; i < n; i++) {
    let sum = b[i]!;
    for (let k = 0; k < i; k++) sum -= l[i * n + k]! * y[k]!;
    y[i] = sum / l[i * n + i]!;
  }
  return y;
}

/** x with L Lᵀ x = b. */
export function solve(l: Float64Array, b: ArrayLike<number>): Float64Array {
  const x = forward(l, b);
  const n = b.length;
  for (let i = n - 1; i >= 0; i--) {
    let sum = x[i]!;
    for (let k = i + 1; k < n; k++) sum -= l[k * n + i]! * x[k]!;
    x[i] = sum / l[i * n + i]!;
  }
  return x;
}

export const dot = (a: ArrayLike<number>, b: ArrayLike<number>): number => {
  let sum = 0;
  for (let i = 0; i < a.length; i++) sum += a[i]! * b[i]!;
  return sum;
};

/** Euclidean. */
export function distance(a: ArrayLike<number>, b: ArrayLike<number>): number {
  let sum = 0;
  for (let i = 0; i < a.length; i++) sum += (a[i]! - b[i]!) ** 2;
  return Math.sqrt(sum);
}
