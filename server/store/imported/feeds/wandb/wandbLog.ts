/**
 * The frame of `.wandb` files: seven bytes, then blocks of 32 KiB with pieces of records, `u32 crc32(type and data) | u16 length |
 * u8 type | data`. A piece never spans blocks: fewer than seven bytes at a block's end are padding.
 */
import { crc32 } from "../../../../../shared/log/crc32.ts";
import type { Framed } from "../../../../lib/growing/recordTail.ts";

export const blockBytes = 32 * 1024;
export const fileHeader = Buffer.from([0x3a, 0x57, 0x26, 0x42, 0xe1, 0xbe]);
export const headerBytes = 7;
export const kind = { whole: 1, first: 2, middle: 3, last: 4 } as const;

/** Fields of a `Record`. */
export const recordFields = { history: 2, summary: 3, config: 5, run: 17, exit: 18, header: 21 } as const;

/** A piece, with its type in front of its data; the file's header and padding are pieces of nothing. */
export function pieceOf(bytes: Buffer, at: number, position: number): Framed {
  const left = blockBytes - (position % blockBytes);
  if (at + Math.min(headerBytes, left) > bytes.length) return { state: "short", needs: headerBytes };
  if (position === 0)
    return bytes.subarray(at, at + fileHeader.length).equals(fileHeader)
      ? { state: "record", payload: empty, length: headerBytes }
      : { state: "damaged" };
  if (left < headerBytes) return { state: "record", payload: empty, length: left };
  const length = bytes.readUInt16LE(at + 4);
  if (length + headerBytes > left) return { state: "damaged" };
  if (at + headerBytes + length > bytes.length) return { state: "short", needs: headerBytes + length };
  const payload = bytes.subarray(at + 6, at + headerBytes + length);
  return crc32(payload) === bytes.readUInt32LE(at)
    ? { state: "record", payload, length: headerBytes + length }
    : { state: "damaged" };
}

const empty = Buffer.alloc(0);

/** Puts records together again. */
export class Pieces {
  private held: Buffer[] = [];

  /** @returns the record that the piece completes */
  add(piece: Buffer): Buffer | undefined {
    if (piece.length === 0) return undefined;
    const data = piece.subarray(1);
    switch (piece[0]) {
      case kind.whole:
        this.held = [];
        return data;
      case kind.first:
        this.held = [Buffer.from(data)];
        return undefined;
      case kind.middle:
        this.held.push(Buffer.from(data));
        return undefined;
      case kind.last: {
        const record = Buffer.concat([...this.held, data]);
        this.held = [];
        return record;
      }
      default:
        return undefined;
    }
  }
}
