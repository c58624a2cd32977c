/** Numbers of several matrices as one: of a layer, of a kind, of the model. */
import { maskOverlaps, type MaskCounts, type MaskOverlaps } from "./masks.ts";
import { together, type Movement } from "./movement.ts";
import { overlapsOf, type Overlaps, type SharedMasks } from "./overlap.ts";
import type { Geometry } from "./geometry.ts";

/** What is known of one part. */
export interface Measured {
  readonly movement: Movement;
  /** undefined: a vector, or too large. */
  readonly geometry?: Geometry | undefined;
  readonly masks?: MaskCounts | undefined;
  /** undefined: no third model was given. */
  readonly shared?: SharedMasks | undefined;
}

export interface Moved {
  readonly parameters: number;
  /** Share with |Δ| above the tolerance. */
  readonly moved: number;
  /** Share with another value in bfloat16. */
  readonly visible: number;
  /** ‖Δ‖ / ‖weights before‖; null where these are all zero. */
  readonly change: number | null;
}
/** Of the matrices with a spectrum. */
export interface Spectral {
  readonly matrices: number;
  /** Mean share of the singular values of the change that hold 99 % of its squares, and of its effective rank. */
  readonly rank_99: number;
  readonly effective_rank: number;
  readonly rank: number;
  /** Mean, of matrices that were not zero. */
  readonly spectral_shift: number | null;
  /** Of left and right subspaces, in degrees. */
  readonly largest_angle: number | null;
}
export interface Summary extends Moved {
  readonly spectral: Spectral | null;
  readonly masks: MaskOverlaps | null;
  readonly overlap?: Overlaps;
}

export function movedOf({ parameters, moved, visible, change, size }: Movement): Moved {
  return {
    parameters,
    moved: moved / parameters,
    visible: visible / parameters,
    change: size > 0 ? Math.sqrt(change / size) : null,
  };
}

const mean = (values: readonly number[]): number =>
  values.reduce((sum, value) => sum + value, 0) / values.length;

function spectralOf(all: readonly Geometry[]): Spectral | null {
  if (all.length === 0) return null;
  const share = (of: (one: Geometry) => number): number => mean(all.map((one) => of(one) / one.change.full));
  const shifts = all.flatMap(({ spectral_shift }) => spectral_shift ?? []);
  const angles = all.flatMap(({ angles: { left, right } }) => [...left, ...right]);
  return {
    matrices: all.length,
    rank_99: share(({ change }) => change.rank_99),
    effective_rank: share(({ change }) => change.effective_rank),
    rank: share(({ change }) => change.rank),
    spectral_shift: shifts.length === 0 ? null : mean(shifts),
    largest_angle: angles.length === 0 ? null : Math.max(...angles),
  };
}

export function summaryOf(all: readonly Measured[]): Summary {
  const masks = all.flatMap((one) => one.masks ?? []);
  const shared = all.flatMap((one) => one.shared ?? []);
  return {
    ...movedOf(together(all.map(({ movement }) => movement))),
    spectral: spectralOf(all.flatMap(({ geometry }) => geometry ?? [])),
    masks: masks.length === 0 ? null : maskOverlaps(masks),
    ...(shared.length > 0 && { overlap: overlapsOf(shared) }),
  };
}
