/** What a change did to a matrix's singular values and to the spaces of its largest ones. */
import { dot } from "../../lib/algebra/linear.ts";
import { singularValues } from "../../lib/algebra/singularValues.ts";
import { spectrum, type Spectrum } from "../../lib/algebra/spectrum.ts";
import { maskCounts, type MaskCounts } from "./masks.ts";

export interface GeometryOptions {
  /** How many singular vectors span the subspaces, and how many values the principal reconstruction keeps. */
  readonly topK: number;
  /** α: the share of weights that masks choose. */
  readonly share: number;
}

export interface RankOf {
  /** The smaller side. */
  readonly full: number;
  /** Values above max(rows, columns) · ε₃₂ · the largest, as torch.linalg.matrix_rank counts. */
  readonly rank: number;
  /** The first so many hold 99 % of Σ σ². */
  readonly rank_99: number;
  /** exp of the entropy of σ / Σ σ. */
  readonly effective_rank: number;
  /** Σ σ² / σ₁². */
  readonly stable_rank: number;
}

export interface Geometry {
  /** Of the change. */
  readonly change: RankOf;
  /** ‖σ(after) − σ(before)‖ / ‖σ(before)‖; null where the matrix was zero. */
  readonly spectral_shift: number | null;
  /** Principal angles in degrees, smallest first, of the left and the right singular vectors. */
  readonly angles: { readonly left: readonly number[]; readonly right: readonly number[] };
  /** The first ones. */
  readonly singular_values: {
    readonly before: readonly number[];
    readonly after: readonly number[];
    readonly change: readonly number[];
  };
}

const sum = (values: Float64Array, of: (value: number) => number): number =>
  values.reduce((total, value) => total + of(value), 0);

const epsilon32 = 2 ** -23;

/** @param values singular values from the largest on @param longest the matrix's longer side */
export function rankOf(values: Float64Array, longest: number): RankOf {
  const full = values.length;
  const squares = sum(values, (value) => value * value);
  if (squares === 0) return { full, rank: 0, rank_99: 0, effective_rank: 0, stable_rank: 0 };
  const total = sum(values, (value) => value);
  const entropy = -sum(values, (value) => (value > 0 ? (value / total) * Math.log(value / total) : 0));
  let [held, rank99] = [0, 0];
  while (rank99 < full && held < 0.99 * squares) held += values[rank99++]! ** 2;
  return {
    full,
    rank: values.filter((value) => value > longest * epsilon32 * values[0]!).length,
    rank_99: rank99,
    effective_rank: Math.exp(entropy),
    stable_rank: squares / values[0]! ** 2,
  };
}

/**
 * cos θ_i = σ_i(U_aᵀ U_b), in degrees, smallest first. Where one space has fewer dimensions, as many angles as it has.
 * @param a orthonormal, as is `b`
 */
export function principalAngles(a: readonly Float64Array[], b: readonly Float64Array[]): number[] {
  const [few, many] = a.length <= b.length ? [a, b] : [b, a];
  if (few.length === 0) return [];
  // One column for each of the fewer: singular values come one a column.
  const values = Float64Array.from(many.flatMap((one) => few.map((other) => dot(one, other))));
  const { s } = singularValues({ rows: many.length, columns: few.length, values });
  return Array.from(s, (cosine) => (Math.acos(Math.min(1, cosine)) * 180) / Math.PI);
}

/** @returns null where the matrix was zero */
export function spectralShift(before: Float64Array, after: Float64Array): number | null {
  const size = sum(before, (value) => value * value);
  const apart = before.reduce((total, value, i) => total + (after[i]! - value) ** 2, 0);
  return size === 0 ? null : Math.sqrt(apart / size);
}

export function geometryOf(
  before: Float32Array,
  after: Float32Array,
  rows: number,
  columns: number,
  { topK, share }: GeometryOptions,
): { readonly geometry: Geometry; readonly masks: MaskCounts } {
  const of = (values: Float32Array, k: number): Spectrum => spectrum({ rows, columns, values }, k);
  const k = Math.min(topK, rows, columns);
  const [old, now] = [of(before, k), of(after, k)];
  const change = of(
    after.map((value, i) => value - before[i]!),
    0,
  );
  const first = ({ values }: Spectrum): number[] => Array.from(values.subarray(0, k));
  return {
    geometry: {
      change: rankOf(change.values, Math.max(rows, columns)),
      spectral_shift: spectralShift(old.values, now.values),
      angles: {
        left: principalAngles(old.left, now.left),
        right: principalAngles(old.right, now.right),
      },
      singular_values: { before: first(old), after: first(now), change: first(change) },
    },
    masks: maskCounts(before, after, old, { rows, columns, share }),
  };
}
