/** Numbers of many tokens in JSON: base64 of little-endian arrays, a fifth of the characters and of the time. */
import { endianness } from "node:os";

type Packable = Int32Array | Float32Array | Uint8Array;

/** In place on machines that are big-endian. */
function swapped(bytes: Buffer, size: number): Buffer {
  if (size === 4 && endianness() === "BE") bytes.swap32();
  return bytes;
}

export const packed = (values: Packable): string =>
  swapped(
    Buffer.from(values.buffer.slice(values.byteOffset, values.byteOffset + values.byteLength)),
    values.BYTES_PER_ELEMENT,
  ).toString("base64");

/** A buffer of its own, so that alignment never matters. */
const unpacked = (text: string, size: number): ArrayBuffer =>
  new Uint8Array(swapped(Buffer.from(text, "base64"), size)).buffer;

export const unpackedInt32 = (text: string): Int32Array => new Int32Array(unpacked(text, 4));
export const unpackedFloat32 = (text: string): Float32Array => new Float32Array(unpacked(text, 4));
export const unpackedUint8 = (text: string): Uint8Array => new Uint8Array(unpacked(text, 1));
