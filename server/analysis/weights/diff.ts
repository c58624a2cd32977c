/** What training did to the weights: two models read one weight at a time, of a third only which weights moved from it. */
import { UserError } from "../../../shared/lib/errors.ts";
import { openWeights, type WeightReader } from "../../engine/formats/index.ts";
import { Scratch } from "../../engine/devices/scratch.ts";
import { parameterCount } from "../../engine/transformer/weights.ts";
import { checkComparable, type OpenedModel } from "./comparable.ts";
import { geometryOf, type Geometry, type GeometryOptions } from "./geometry.ts";
import { maskOverlaps, type MaskOverlaps } from "./masks.ts";
import { movementOf } from "./movement.ts";
import { overlapsOf, sharedMasks, type Overlaps } from "./overlap.ts";
import { cut, kinds, partsOf, type Kind, type Part } from "./parts.ts";
import { movedOf, summaryOf, type Measured, type Moved, type Summary } from "./summary.ts";

export interface DiffOptions extends GeometryOptions {
  /** Singular values are computed of matrices whose smaller side is at most so long, and whose longer at most eight times that. */
  readonly side: number;
  /** Is given the share of the weights that are done. */
  readonly report?: (done: number) => void;
}

interface MatrixReport extends Moved {
  readonly name: string;
  readonly kind: Kind;
  readonly layer: number | null;
  readonly shape: readonly number[];
  readonly geometry?: Geometry;
  readonly masks?: MaskOverlaps;
  readonly overlap?: Overlaps;
}
export interface WeightDiff {
  readonly total: Summary;
  /** The embedding, each layer, the last norm and the head, in their order. */
  readonly layers: readonly (Summary & { readonly layer: number | Kind })[];
  readonly kinds: readonly (Summary & { readonly kind: Kind })[];
  readonly matrices: readonly MatrixReport[];
  /** Matrices whose singular values were not computed. */
  readonly left_out: readonly { readonly name: string; readonly shape: readonly number[] }[];
}

interface Found extends Measured {
  readonly part: Part;
}

const computes = ({ rows, columns, flat }: Part, side: number): boolean =>
  !flat && Math.min(rows, columns) <= side && Math.max(rows, columns) <= 8 * side;

function measured(part: Part, [before, after, base]: readonly Float32Array[], options: DiffOptions): Found {
  const [a, b] = [before!, after!];
  const movement = movementOf(a, b);
  if (!Number.isFinite(movement.change) || !Number.isFinite(movement.size))
    throw new UserError(`${part.name} has numbers that are not finite.`, {
      code: "diff-not-finite",
      action: "Compare with an earlier checkpoint: this training has diverged.",
    });
  return {
    part,
    movement,
    ...(computes(part, options.side) && geometryOf(a, b, part.rows, part.columns, options)),
    ...(base !== undefined && { shared: sharedMasks(base, a, b) }),
  };
}

/** Every part, in the model's order; of each model no more than one weight is held. */
function measuredAll(
  readers: readonly WeightReader[],
  { head: { shape } }: OpenedModel,
  options: DiffOptions,
): Found[] {
  const rooms = readers.map(() => new Scratch());
  const found: Found[] = [];
  let done = 0;
  for (const [weight, parts] of partsOf(shape)) {
    const values = readers.map((reader, i) => reader.read(weight, rooms[i]!.floats));
    for (const part of parts) {
      found.push(
        measured(
          part,
          values.map((one) => cut(one, part)),
          options,
        ),
      );
      done += part.rows * part.columns;
      options.report?.(done / parameterCount(shape));
    }
  }
  return found;
}

function matrixReport({ part, movement, geometry, masks, shared }: Found): MatrixReport {
  const { name, kind, layer, rows, columns, flat } = part;
  return {
    name,
    kind,
    layer,
    shape: flat ? [columns] : [rows, columns],
    ...movedOf(movement),
    ...(geometry !== undefined && { geometry }),
    ...(masks !== undefined && { masks: maskOverlaps([masks]) }),
    ...(shared !== undefined && { overlap: overlapsOf([shared]) }),
  };
}

function reportOf(found: readonly Found[]): WeightDiff {
  const places = [...new Set(found.map(({ part }) => part.layer ?? part.kind))];
  return {
    total: summaryOf(found),
    layers: places.map((layer) => ({
      layer,
      ...summaryOf(found.filter(({ part }) => (part.layer ?? part.kind) === layer)),
    })),
    kinds: kinds.flatMap((kind) => {
      const own = found.filter(({ part }) => part.kind === kind);
      return own.length === 0 ? [] : [{ kind, ...summaryOf(own) }];
    }),
    matrices: found.map(matrixReport),
    left_out: found.flatMap(({ part: { name, rows, columns, flat }, geometry }) =>
      flat || geometry !== undefined ? [] : [{ name, shape: [rows, columns] }],
    ),
  };
}

/**
 * @param base where given, masks of A − base and B − base are compared
 * @throws UserError where the models are not of one shape, or a weight cannot be read
 */
export function diffWeights(
  a: OpenedModel,
  b: OpenedModel,
  base: OpenedModel | undefined,
  options: DiffOptions,
): WeightDiff {
  const models = base === undefined ? [a, b] : [a, b, base];
  for (const other of models.slice(1)) checkComparable(a, other);
  const readers: WeightReader[] = [];
  try {
    for (const { head } of models) readers.push(openWeights(head));
    return reportOf(measuredAll(readers, a, options));
  } finally {
    for (const reader of readers) reader.close();
  }
}
