/** Centred kernel alignment with a linear kernel (Kornblith et al., "Similarity of Neural Network Representations Revisited"). */
import { dot } from "../../lib/algebra/linear.ts";

export type Vectors = readonly ArrayLike<number>[];

/** Products of all pairs, row after row. */
function kernelOf(vectors: Vectors): Float64Array {
  const n = vectors.length;
  const kernel = new Float64Array(n * n);
  for (let i = 0; i < n; i++)
    for (let j = 0; j <= i; j++) kernel[i * n + j] = kernel[j * n + i] = dot(vectors[i]!, vectors[j]!);
  return kernel;
}

const rowMeans = (kernel: Float64Array, n: number): Float64Array =>
  Float64Array.from({ length: n }, (_, i) => {
    const row = kernel.subarray(i * n, (i + 1) * n);
    return row.reduce((sum, value) => sum + value, 0) / n;
  });

/** H K H with H = I − 11ᵀ/n: as if the vectors' mean had been taken from each. */
function centred(kernel: Float64Array, n: number): Float64Array {
  const means = rowMeans(kernel, n);
  const mean = means.reduce((sum, value) => sum + value, 0) / n;
  return kernel.map((value, at) => value - means[Math.floor(at / n)]! - means[at % n]! + mean);
}

const cosine = (xy: number, xx: number, yy: number): number | null =>
  xx > 0 && yy > 0 ? xy / Math.sqrt(xx * yy) : null;

/** Song et al.'s estimate of HSIC without bias, of kernels of at least four whose diagonals are zero. */
function unbiasedHsic(k: Float64Array, l: Float64Array, n: number): number {
  const [own, other] = [rowMeans(k, n), rowMeans(l, n)];
  const sum = (means: Float64Array): number => n * means.reduce((total, value) => total + value, 0);
  const inner = dot(k, l) + (sum(own) * sum(other)) / ((n - 1) * (n - 2));
  return (inner - (2 / (n - 2)) * n * n * dot(own, other)) / (n * (n - 3));
}

export interface Alignment {
  /** ‖YᵀX‖² / (‖XᵀX‖ ‖YᵀY‖) of centred vectors; null where all are equal. Of fewer vectors than dimensions it is near 1 for any two. */
  readonly cka: number | null;
  /** The same with HSIC estimated without bias: near 0 for two that have nothing to do with each other. Of four vectors on. */
  readonly cka_unbiased: number | null;
}

/** @param x of the same examples as `y`, in the same order; numbers of dimensions may differ */
export function alignment(x: Vectors, y: Vectors): Alignment {
  const n = x.length;
  const [k, l] = [centred(kernelOf(x), n), centred(kernelOf(y), n)];
  const cka = cosine(dot(k, l), dot(k, k), dot(l, l));
  if (n < 4) return { cka, cka_unbiased: null };
  for (let i = 0; i < n; i++) k[i * n + i] = l[i * n + i] = 0;
  return { cka, cka_unbiased: cosine(unbiasedHsic(k, l, n), unbiasedHsic(k, k, n), unbiasedHsic(l, l, n)) };
}
