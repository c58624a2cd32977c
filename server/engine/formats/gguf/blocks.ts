/**
 * How GGUF stores numbers: blocks of 32 (K types: 256) with small integers and shared scales, as ggml defines them. A
 * block's bytes become floats in order; arithmetic in 32 bits, as ggml's.
 */

import { fresh, type Room } from "../../devices/scratch.ts";
import { halfTable } from "../../weights/safetensors.ts";

export interface BlockType {
  readonly name: string;
  /** Its number in the file. */
  readonly id: number;
  /** Numbers in a block. */
  readonly count: number;
  /** Bytes of a block. */
  readonly bytes: number;
  /** The block at `bytes[at…]` into `out[to…]`. */
  readonly unpack: (bytes: Uint8Array, at: number, out: Float32Array, to: number) => void;
}
const blockType = (
  name: string,
  sizes: Pick<BlockType, "id" | "count" | "bytes">,
  unpack: BlockType["unpack"],
): BlockType => ({ name, ...sizes, unpack });

const scratch = new DataView(new ArrayBuffer(4));
function floatOfBits(bits: number): number {
  scratch.setUint32(0, bits);
  return scratch.getFloat32(0);
}
const u16 = (bytes: Uint8Array, at: number): number => bytes[at]! | (bytes[at + 1]! << 8);
const u32 = (bytes: Uint8Array, at: number): number => u16(bytes, at) | (u16(bytes, at + 2) << 16);
const half = (bytes: Uint8Array, at: number): number => halfTable()[u16(bytes, at)]!;
const i8 = (byte: number): number => (byte << 24) >> 24;
const { fround } = Math;

const f32 = blockType("F32", { id: 0, count: 1, bytes: 4 }, (bytes, at, out, to) => {
  out[to] = floatOfBits(u32(bytes, at) >>> 0);
});
const f16 = blockType("F16", { id: 1, count: 1, bytes: 2 }, (bytes, at, out, to) => {
  out[to] = half(bytes, at);
});
const bf16 = blockType("BF16", { id: 30, count: 1, bytes: 2 }, (bytes, at, out, to) => {
  out[to] = floatOfBits((u16(bytes, at) << 16) >>> 0);
});

/** 4 bits: d·(q − 8). Low nibbles are elements 0 … 15, high ones 16 … 31, here and in the next three. */
const q4_0 = blockType("Q4_0", { id: 2, count: 32, bytes: 18 }, (bytes, at, out, to) => {
  const d = half(bytes, at);
  for (let i = 0; i < 16; i++) {
    const byte = bytes[at + 2 + i]!;
    out[to + i] = d * ((byte & 15) - 8);
    out[to + 16 + i] = d * ((byte >> 4) - 8);
  }
});
/** d·q + m. */
const q4_1 = blockType("Q4_1", { id: 3, count: 32, bytes: 20 }, (bytes, at, out, to) => {
  const d = half(bytes, at);
  const m = half(bytes, at + 2);
  for (let i = 0; i < 16; i++) {
    const byte = bytes[at + 4 + i]!;
    out[to + i] = fround(d * (byte & 15)) + m;
    out[to + 16 + i] = fround(d * (byte >> 4)) + m;
  }
});
/** As Q4_0, with a fifth bit of every element in 32 bits of their own: d·(q − 16). */
const q5_0 = blockType("Q5_0", { id: 6, count: 32, bytes: 22 }, (bytes, at, out, to) => {
  const d = half(bytes, at);
  const high = u32(bytes, at + 2);
  for (let i = 0; i < 16; i++) {
    const byte = bytes[at + 6 + i]!;
    out[to + i] = d * (((byte & 15) | (((high >> i) & 1) << 4)) - 16);
    out[to + 16 + i] = d * (((byte >> 4) | (((high >> (i + 16)) & 1) << 4)) - 16);
  }
});
const q5_1 = blockType("Q5_1", { id: 7, count: 32, bytes: 24 }, (bytes, at, out, to) => {
  const d = half(bytes, at);
  const m = half(bytes, at + 2);
  const high = u32(bytes, at + 4);
  for (let i = 0; i < 16; i++) {
    const byte = bytes[at + 8 + i]!;
    out[to + i] = fround(d * ((byte & 15) | (((high >> i) & 1) << 4))) + m;
    out[to + 16 + i] = fround(d * ((byte >> 4) | (((high >> (i + 16)) & 1) << 4))) + m;
  }
});
const q8_0 = blockType("Q8_0", { id: 8, count: 32, bytes: 34 }, (bytes, at, out, to) => {
  const d = half(bytes, at);
  for (let i = 0; i < 32; i++) out[to + i] = d * i8(bytes[at + 2 + i]!);
});

/**
 * Scale and minimum number `group` of eight, 6 bits each in 12 bytes: bytes 0 … 3 and 4 … 7 hold the first four of both,
 * and in their two top bits what the last four, whose low halves share bytes 8 … 11, have above.
 */
function sixBitScale(bytes: Uint8Array, at: number, group: number): number {
  if (group < 4) return bytes[at + group]! & 63;
  return (bytes[at + group + 4]! & 15) | ((bytes[at + group - 4]! >> 6) << 4);
}
function sixBitMinimum(bytes: Uint8Array, at: number, group: number): number {
  if (group < 4) return bytes[at + group + 4]! & 63;
  return (bytes[at + group + 4]! >> 4) | ((bytes[at + group]! >> 6) << 4);
}

/** Eight groups of 32: d·scale·q − dmin·minimum. 32 bytes hold two groups, low nibbles first. */
const q4_k = blockType("Q4_K", { id: 12, count: 256, bytes: 144 }, (bytes, at, out, to) => {
  const d = half(bytes, at);
  const least = half(bytes, at + 2);
  for (let group = 0; group < 8; group++) {
    const scale = fround(d * sixBitScale(bytes, at + 4, group));
    const minimum = fround(least * sixBitMinimum(bytes, at + 4, group));
    const from = at + 16 + (group >> 1) * 32;
    const shift = (group & 1) * 4;
    for (let i = 0; i < 32; i++)
      out[to + group * 32 + i] = fround(scale * ((bytes[from + i]! >> shift) & 15)) - minimum;
  }
});
/** As Q4_K, with a fifth bit: bit `group` of the 32 bytes after the scales. */
const q5_k = blockType("Q5_K", { id: 13, count: 256, bytes: 176 }, (bytes, at, out, to) => {
  const d = half(bytes, at);
  const least = half(bytes, at + 2);
  for (let group = 0; group < 8; group++) {
    const scale = fround(d * sixBitScale(bytes, at + 4, group));
    const minimum = fround(least * sixBitMinimum(bytes, at + 4, group));
    const from = at + 48 + (group >> 1) * 32;
    const shift = (group & 1) * 4;
    for (let i = 0; i < 32; i++) {
      const q = ((bytes[from + i]! >> shift) & 15) | (((bytes[at + 16 + i]! >> group) & 1) << 4);
      out[to + group * 32 + i] = fround(scale * q) - minimum;
    }
  }
});
/**
 * Sixteen groups of 16 with signed 8-bit scales: d·scale·(q − 32). In each half of 128, four runs of 32 elements take
 * their low 4 bits from 64 bytes (runs 0 and 1: low nibbles, 2 and 3: high ones) and two more from 32 bytes.
 */
const q6_k = blockType("Q6_K", { id: 14, count: 256, bytes: 210 }, (bytes, at, out, to) => {
  const d = half(bytes, at + 208);
  for (let run = 0; run < 8; run++) {
    const within = run & 3;
    const low = at + (run >> 2) * 64 + (within & 1) * 32;
    const high = at + 128 + (run >> 2) * 32;
    for (let i = 0; i < 32; i++) {
      const scale = fround(d * i8(bytes[at + 192 + run * 2 + (i >> 4)]!));
      const nibble = (bytes[low + i]! >> ((within >> 1) * 4)) & 15;
      const q = nibble | (((bytes[high + i]! >> (within * 2)) & 3) << 4);
      out[to + run * 32 + i] = scale * (q - 32);
    }
  }
});

const known = [f32, f16, bf16, q4_0, q4_1, q5_0, q5_1, q8_0, q4_k, q5_k, q6_k];
/** By the number that a file has. */
export const blockTypes: ReadonlyMap<number, BlockType> = new Map(known.map((type) => [type.id, type]));

/** Bytes of a tensor; not whole where a row is not a whole number of blocks. */
export function bytesOf(type: BlockType, extents: readonly number[]): number {
  const row = (extents.at(-1) ?? 1) / type.count;
  return Number.isInteger(row)
    ? extents.slice(0, -1).reduce((product, extent) => product * extent, row) * type.bytes
    : NaN;
}

/** How many numbers so many bytes hold. */
const countIn = (type: BlockType, bytes: Uint8Array): number => (bytes.length / type.bytes) * type.count;

/** The numbers of whole blocks, in order. */
export const unpacked = (type: BlockType, bytes: Uint8Array, room: Room = fresh): Float32Array => {
  const out = room(countIn(type, bytes));
  const { unpack, count, bytes: size } = type;
  if (type === f32) new Uint8Array(out.buffer, out.byteOffset, bytes.length).set(bytes);
  else
    for (let block = 0; block < out.length / count; block++) unpack(bytes, block * size, out, block * count);
  return out;
};
