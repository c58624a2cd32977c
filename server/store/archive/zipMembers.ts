/** The members of a zip file, read one by one: stored, deflate and zstd, also of files beyond 4 GiB (zip64). */
import { closeSync, fstatSync, readSync } from "node:fs";
import { inflateRawSync } from "node:zlib";
import { compressors } from "hyparquet-compressors";
import { inWords, openRegular } from "../../lib/inputFile.ts";

export interface Member {
  readonly name: string;
  /** Of how it is compressed. */
  readonly method: number;
  /** Bytes in the file, and of what it holds. */
  readonly packed: number;
  readonly size: number;
  /** Where its own header lies. */
  readonly offset: number;
}

/** Bytes of a member at most: one sample of an evaluation, or what a log begins with, is read whole into memory. */
const mostMember = 128 * 1024 * 1024;
/** The end of a zip file has at most a comment of this many bytes after it. */
const longestEnd = 22 + 65_535;
const marks = { end: 0x06054b50, end64: 0x06064b50, locator: 0x07064b50, entry: 0x02014b50 } as const;
const methods = { stored: 0, deflate: 8, zstd: 93 } as const;
/** A number that lies in the extra field instead. */
const elsewhere = 0xffffffff;

export class ZipMembers {
  private readonly descriptor: number;
  readonly members: readonly Member[];

  /** @throws RangeError where the file is no zip, or not a whole one */
  constructor(file: string) {
    this.descriptor = openRegular(file);
    try {
      this.members = this.list();
    } catch (error) {
      this.close();
      throw error;
    }
  }

  /** @throws RangeError where the member is damaged, or compressed in another way */
  read({ name, method, packed, size, offset }: Member): Buffer {
    if (size > mostMember) throw new RangeError(`${name} is larger than ${inWords(mostMember)}`);
    const head = this.bytes(offset, 30);
    const data = this.bytes(offset + 30 + head.readUInt16LE(26) + head.readUInt16LE(28), packed);
    const found = unpacked(method, data, size);
    if (found === undefined) throw new RangeError(`${name} is compressed in a way that is not known`);
    if (found.length !== size) throw new RangeError(`${name} is cut`);
    return found;
  }

  close(): void {
    closeSync(this.descriptor);
  }

  private list(): Member[] {
    const { size } = fstatSync(this.descriptor);
    const tail = this.bytes(Math.max(0, size - longestEnd), Math.min(size, longestEnd));
    const at = lastMark(tail);
    const { count, offset, length } = this.directory(tail, at);
    const bytes = this.bytes(offset, length);
    const members: Member[] = [];
    for (let place = 0; members.length < count;) {
      if (bytes.readUInt32LE(place) !== marks.entry) throw new RangeError("its directory is damaged");
      const [names, extras, comments] = [28, 30, 32].map((field) => bytes.readUInt16LE(place + field));
      members.push(memberAt(bytes, place, names ?? 0, extras ?? 0));
      place += 46 + (names ?? 0) + (extras ?? 0) + (comments ?? 0);
    }
    return members;
  }

  /** Where the directory lies: a file beyond 4 GiB has a second end in front of its end. */
  private directory(tail: Buffer, at: number): { count: number; offset: number; length: number } {
    const own = {
      count: tail.readUInt16LE(at + 10),
      length: tail.readUInt32LE(at + 12),
      offset: tail.readUInt32LE(at + 16),
    };
    if (own.offset !== elsewhere && own.count !== 0xffff) return own;
    if (at < 20 || tail.readUInt32LE(at - 20) !== marks.locator) return own;
    const end = this.bytes(Number(tail.readBigUInt64LE(at - 12)), 56);
    if (end.readUInt32LE(0) !== marks.end64) throw new RangeError("its directory is damaged");
    const [count, length, offset] = [32, 40, 48].map((field) => Number(end.readBigUInt64LE(field)));
    return { count: count ?? 0, length: length ?? 0, offset: offset ?? 0 };
  }

  private bytes(position: number, length: number): Buffer {
    if (length < 0 || position + length > fstatSync(this.descriptor).size)
      throw new RangeError("it ends within a member");
    const bytes = Buffer.alloc(length);
    if (readSync(this.descriptor, bytes, 0, length, position) !== length)
      throw new RangeError("it ends within a member");
    return bytes;
  }
}

function lastMark(tail: Buffer): number {
  for (let at = tail.length - 22; at >= 0; at--) if (tail.readUInt32LE(at) === marks.end) return at;
  throw new RangeError("it has no directory");
}

function memberAt(bytes: Buffer, place: number, names: number, extras: number): Member {
  const start = place + 46;
  const wide = wideNumbers(bytes.subarray(start + names, start + names + extras));
  const number = (field: number): number => {
    const value = bytes.readUInt32LE(place + field);
    return value === elsewhere ? (wide.shift() ?? value) : value;
  };
  // In this order the extra field has those that are elsewhere.
  const [size, packed, offset] = [number(24), number(20), number(42)];
  const name = bytes.toString("utf8", start, start + names);
  return { name, method: bytes.readUInt16LE(place + 10), packed, size, offset };
}

/** Of the extra field with the id 1. */
function wideNumbers(extra: Buffer): number[] {
  for (let at = 0; at + 4 <= extra.length; at += 4 + extra.readUInt16LE(at + 2))
    if (extra.readUInt16LE(at) === 1) {
      const count = Math.floor(extra.readUInt16LE(at + 2) / 8);
      return Array.from({ length: count }, (_, i) => Number(extra.readBigUInt64LE(at + 4 + 8 * i)));
    }
  return [];
}

function unpacked(method: number, data: Buffer, size: number): Buffer | undefined {
  if (method === methods.stored) return data;
  // The size is only what the file says: one byte more than that ends it.
  if (method === methods.deflate) return inflateRawSync(data, { maxOutputLength: Math.max(1, size) });
  if (method !== methods.zstd || compressors.ZSTD === undefined) return undefined;
  return Buffer.from(compressors.ZSTD(data, size));
}
