/** CRC-32 (IEEE 802.3, the one of zlib and PNG) of a record's kind and payload. */
import zlib from "node:zlib";

const table = Uint32Array.from({ length: 256 }, (_, byte) => {
  let value = byte;
  for (let bit = 0; bit < 8; bit++) value = value & 1 ? (value >>> 1) ^ 0xedb88320 : value >>> 1;
  return value >>> 0;
});

/** Byte by byte: for a Node without zlib.crc32 (before 20.15 and 22.2). @param before of the bytes that come before these */
export function tableCrc32(bytes: Uint8Array, before = 0): number {
  let value = (before ^ 0xffffffff) >>> 0;
  for (const byte of bytes) value = table[(value ^ byte) & 0xff]! ^ (value >>> 8);
  return (value ^ 0xffffffff) >>> 0;
}

export const crc32: (bytes: Uint8Array, before?: number) => number =
  typeof zlib.crc32 === "function" ? (bytes, before) => zlib.crc32(bytes, before) : tableCrc32;
