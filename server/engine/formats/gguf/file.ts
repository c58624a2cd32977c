/** Writing a GGUF file, version 3, little-endian: header, metadata and tensors, each at a multiple of 32 bytes. */
import { closeSync, fsyncSync, openSync, writeSync } from "node:fs";

/** A metadata value with its type in the file. */
export type Typed =
  | { readonly type: "u32" | "i32" | "f32"; readonly value: number }
  | { readonly type: "bool"; readonly value: boolean }
  | { readonly type: "text"; readonly value: string }
  | { readonly type: "texts"; readonly value: readonly string[] }
  | { readonly type: "i32s" | "f32s"; readonly value: readonly number[] };

export interface WrittenTensor {
  readonly name: string;
  /** Row-major. */
  readonly extents: readonly number[];
  readonly type: "F32" | "F16";
  /** Called when its turn has come, so that no two tensors are held at once. */
  readonly values: () => Float32Array;
}

const ALIGNMENT = 32;
const numbers = { u32: 4, i32: 5, f32: 6, bool: 7, text: 8, array: 9 } as const;
const tensorTypes = { F32: { id: 0, bytes: 4 }, F16: { id: 1, bytes: 2 } } as const;

function u32(value: number): Buffer {
  const bytes = Buffer.alloc(4);
  bytes.writeUInt32LE(value);
  return bytes;
}
function u64(value: number): Buffer {
  const bytes = Buffer.alloc(8);
  bytes.writeBigUInt64LE(BigInt(value));
  return bytes;
}
function text(value: string): Buffer {
  const bytes = Buffer.from(value);
  return Buffer.concat([u64(bytes.length), bytes]);
}
function scalar(type: "u32" | "i32" | "f32", value: number): Buffer {
  const bytes = Buffer.alloc(4);
  if (type === "u32") bytes.writeUInt32LE(value);
  else if (type === "i32") bytes.writeInt32LE(value);
  else bytes.writeFloatLE(value);
  return bytes;
}
const list = (element: number, count: number, items: readonly Buffer[]): Buffer =>
  Buffer.concat([u32(numbers.array), u32(element), u64(count), ...items]);

function encoded(typed: Typed): Buffer {
  switch (typed.type) {
    case "text":
      return Buffer.concat([u32(numbers.text), text(typed.value)]);
    case "bool":
      return Buffer.concat([u32(numbers.bool), Buffer.of(typed.value ? 1 : 0)]);
    case "texts":
      return list(numbers.text, typed.value.length, typed.value.map(text));
    case "i32s":
      return list(numbers.i32, typed.value.length, [Buffer.from(Int32Array.from(typed.value).buffer)]);
    case "f32s":
      return list(numbers.f32, typed.value.length, [Buffer.from(Float32Array.from(typed.value).buffer)]);
    default:
      return Buffer.concat([u32(numbers[typed.type]), scalar(typed.type, typed.value)]);
  }
}

const aligned = (bytes: number): number => Math.ceil(bytes / ALIGNMENT) * ALIGNMENT;
const sizeOf = ({ extents, type }: WrittenTensor): number =>
  extents.reduce((product, extent) => product * extent, tensorTypes[type].bytes);

function header(metadata: ReadonlyMap<string, Typed>, tensors: readonly WrittenTensor[]): Buffer {
  const parts = [Buffer.from("GGUF"), u32(3), u64(tensors.length), u64(metadata.size)];
  for (const [key, value] of metadata) parts.push(text(key), encoded(value));
  let offset = 0;
  for (const tensor of tensors) {
    const { name, extents, type } = tensor;
    parts.push(
      text(name),
      u32(extents.length),
      ...[...extents].reverse().map(u64),
      u32(tensorTypes[type].id),
      u64(offset),
    );
    offset += aligned(sizeOf(tensor));
  }
  const whole = Buffer.concat(parts);
  return Buffer.concat([whole, Buffer.alloc(aligned(whole.length) - whole.length)]);
}

const bits = new Float32Array(1);
const asInteger = new Uint32Array(bits.buffer);
/** The nearest half, ties to even; what is too large becomes infinity. */
export function halfOf(value: number): number {
  bits[0] = value;
  const whole = asInteger[0]!;
  const sign = (whole >>> 16) & 0x8000;
  const magnitude = whole & 0x7fffffff;
  if (magnitude > 0x7f800000) return sign | 0x7e00;
  if (magnitude >= 0x477ff000) return sign | 0x7c00;
  if (magnitude < 0x38800000) {
    // Below the least normal half, steps are 2⁻²⁴ apart.
    const steps = Math.abs(value) * 2 ** 24;
    const down = Math.floor(steps);
    const rest = steps - down;
    return sign | (down + (rest > 0.5 || (rest === 0.5 && down % 2 === 1) ? 1 : 0));
  }
  const rounded = magnitude - 0x38000000 + 0xfff + ((magnitude >>> 13) & 1);
  return sign | (rounded >>> 13);
}

function bytesOf({ type, values }: WrittenTensor): Buffer {
  const data = values();
  if (type === "F32") return Buffer.from(data.buffer, data.byteOffset, data.byteLength);
  const halves = new Uint16Array(data.length);
  for (let i = 0; i < data.length; i++) halves[i] = halfOf(data[i]!);
  return Buffer.from(halves.buffer);
}

function writeAll(descriptor: number, bytes: Uint8Array): void {
  let done = 0;
  while (done < bytes.length) done += writeSync(descriptor, bytes, done);
}

export function writeFile(
  file: string,
  metadata: ReadonlyMap<string, Typed>,
  tensors: readonly WrittenTensor[],
): void {
  const descriptor = openSync(file, "w");
  try {
    writeAll(descriptor, header(metadata, tensors));
    for (const tensor of tensors) {
      const bytes = bytesOf(tensor);
      writeAll(descriptor, bytes);
      writeAll(descriptor, Buffer.alloc(aligned(bytes.length) - bytes.length));
    }
    fsyncSync(descriptor);
  } finally {
    closeSync(descriptor);
  }
}
