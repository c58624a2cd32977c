/** Moving numbers between our matrices and a Hugging Face folder's tensors. */
import { headWidth, weightShapes, type Shape } from "../../transformer/weights.ts";
import { take, countOf } from "../../../core/ops.ts";
import { fresh, type Room } from "../../devices/scratch.ts";
import type { StoredTensor } from "../../weights/safetensors.ts";
import type { Weights } from "../model.ts";
import { publicTensors, type PublicTensor } from "./tensors.ts";

/** Our column of each of a tensor's outputs. */
export function columnsOf({ start, columns, halves }: PublicTensor, width: number): Int32Array {
  if (!halves) return Int32Array.from({ length: columns }, (_, output) => start + output);
  const half = width / 2;
  return Int32Array.from({ length: columns }, (_, output) => {
    const within = output % width;
    const pair = within < half ? 2 * within : 2 * (within - half) + 1;
    return start + output - within + pair;
  });
}

/** Side of the squares that a transposition goes by: both sides of one stay in the processor's first cache. */
const BLOCK = 32;

/** Copies a tensor into columns of `ours` `[in, stride]`, or back. */
type Copy = (
  theirs: Float32Array,
  ours: Float32Array,
  stride: number,
  rows: number,
  columns: Int32Array,
  inwards: boolean,
) => void;
/** Of tensors `[out, in]`. */
const copyTransposed: Copy = (theirs, ours, stride, rows, columns, inwards) => {
  for (let first = 0; first < columns.length; first += BLOCK) {
    const last = Math.min(columns.length, first + BLOCK);
    for (let top = 0; top < rows; top += BLOCK) {
      const bottom = Math.min(rows, top + BLOCK);
      for (let output = first; output < last; output++) {
        const column = columns[output]!;
        const from = output * rows;
        if (inwards)
          for (let row = top; row < bottom; row++) ours[row * stride + column] = theirs[from + row]!;
        else for (let row = top; row < bottom; row++) theirs[from + row] = ours[row * stride + column]!;
      }
    }
  }
};
/** Of tensors `[in, out]` and vectors. */
const copyStraight: Copy = (theirs, ours, stride, rows, columns, inwards) => {
  for (let row = 0; row < rows; row++) {
    const from = row * columns.length;
    for (let output = 0; output < columns.length; output++) {
      const at = row * stride + columns[output]!;
      if (inwards) ours[at] = theirs[from + output]!;
      else theirs[from + output] = ours[at]!;
    }
  }
};

const isWhole = (tensor: PublicTensor, extents: readonly number[]): boolean =>
  !tensor.transposed && !tensor.halves && tensor.columns === (extents[1] ?? extents[0]);

function copy(
  shape: Shape,
  tensor: PublicTensor,
  extents: readonly number[],
  theirs: Float32Array,
  ours: Float32Array,
  inwards: boolean,
): void {
  const [rows, stride] = extents.length === 2 ? [extents[0]!, extents[1]!] : [1, extents[0]!];
  const columns = columnsOf(tensor, headWidth(shape));
  (tensor.transposed ? copyTransposed : copyStraight)(theirs, ours, stride, rows, columns, inwards);
}

/** Weights by the folder's names and in its layout, each made when its data is looked at. */
export function toPublic(shape: Shape, weights: Weights): Record<string, StoredTensor> {
  const stored: Record<string, StoredTensor> = {};
  const shapes = weightShapes(shape);
  for (const [weight, tensors] of Object.entries(publicTensors(shape))) {
    const extents = shapes[weight]!;
    for (const tensor of tensors)
      stored[tensor.name] = {
        shape: tensor.extents,
        get data() {
          const ours = take(weights, weight);
          if (isWhole(tensor, extents)) return ours;
          const data = new Float32Array(countOf(tensor.extents));
          copy(shape, tensor, extents, data, ours, false);
          return data;
        },
      };
  }
  return stored;
}

/**
 * The way back, for one weight; `read` gives the numbers of a tensor that has its extents, or throws: into the `room`
 * where the weight is that tensor, else anywhere.
 */
export function fromTensors(
  shape: Shape,
  extents: readonly number[],
  tensors: readonly PublicTensor[],
  read: (tensor: PublicTensor, room?: Room) => Float32Array,
  room: Room = fresh,
): Float32Array {
  const [first] = tensors;
  if (tensors.length === 1 && isWhole(first!, extents)) return read(first!, room);
  const ours = room(countOf(extents));
  for (const tensor of tensors) copy(shape, tensor, extents, read(tensor), ours, true);
  return ours;
}
