/**
 * The header of a GGUF file (versions 2 and 3): metadata, and where each tensor lies. Little-endian: u32 magic, u32
 * version, u64 tensors, u64 keys, then the keys and the tensors, one after the other. Only the header is read, in pieces.
 */
import { closeSync, fstatSync, readSync } from "node:fs";
import { readFailure, UserError } from "../../../../shared/lib/errors.ts";
import { openRegular } from "../../../lib/inputFile.ts";
import { blockTypes, bytesOf, type BlockType } from "./blocks.ts";
import { kindInWords } from "./otherKinds.ts";

export type MetadataValue = number | boolean | string | readonly MetadataValue[];
export type Metadata = ReadonlyMap<string, MetadataValue>;

export interface TensorInfo {
  readonly name: string;
  /** Row-major: the fastest extent is last (the file has it first). */
  readonly extents: readonly number[];
  readonly type: BlockType;
  /** Absolute, in bytes. */
  readonly offset: number;
  readonly bytes: number;
}
export interface Header {
  readonly file: string;
  readonly metadata: Metadata;
  readonly tensors: ReadonlyMap<string, TensorInfo>;
}

export const ggufError = (file: string, problem: string, action?: string, cause?: unknown): UserError =>
  new UserError(`${file} cannot be read as GGUF: ${problem}.`, {
    file,
    code: "gguf",
    action: action ?? "Download or convert the file again: it is damaged, or not a GGUF file.",
    cause,
  });

/** How much is read at a time; a vocabulary of 49,000 tokens takes two. */
const PIECE = 2 ** 20;

/** Bytes of the file in order, read as they are needed. */
class Cursor {
  private buffer = Buffer.alloc(0);
  private at = 0;
  private next = 0;
  constructor(
    private readonly file: string,
    private readonly descriptor: number,
    readonly size: number,
  ) {}

  /** Where the next byte lies in the file. */
  get position(): number {
    return this.next - (this.buffer.length - this.at);
  }
  /** Bytes of the file that have not been read. */
  get left(): number {
    return this.size - this.position;
  }
  /** Begin of `count` bytes in the buffer, which are consumed. */
  private take(count: number): number {
    if (count > this.size - this.position) throw ggufError(this.file, "it is cut short inside its header");
    if (this.at + count > this.buffer.length) this.refill(count);
    this.at += count;
    return this.at - count;
  }
  private refill(count: number): void {
    const rest = this.buffer.subarray(this.at);
    const wanted = Math.min(Math.max(PIECE, count - rest.length), this.size - this.next);
    const buffer = Buffer.alloc(rest.length + wanted);
    rest.copy(buffer);
    const read = readSync(this.descriptor, buffer, rest.length, wanted, this.next);
    if (read < wanted) throw ggufError(this.file, "it is cut short inside its header");
    this.buffer = buffer;
    this.at = 0;
    this.next += read;
  }
  /** A value of `count` bytes; the buffer may be another after they were fetched. */
  private from<T>(count: number, read: (buffer: Buffer, at: number) => T): T {
    const at = this.take(count);
    return read(this.buffer, at);
  }
  u8 = (): number => this.from(1, (buffer, at) => buffer.readUInt8(at));
  i8 = (): number => this.from(1, (buffer, at) => buffer.readInt8(at));
  u16 = (): number => this.from(2, (buffer, at) => buffer.readUInt16LE(at));
  i16 = (): number => this.from(2, (buffer, at) => buffer.readInt16LE(at));
  u32 = (): number => this.from(4, (buffer, at) => buffer.readUInt32LE(at));
  i32 = (): number => this.from(4, (buffer, at) => buffer.readInt32LE(at));
  f32 = (): number => this.from(4, (buffer, at) => buffer.readFloatLE(at));
  f64 = (): number => this.from(8, (buffer, at) => buffer.readDoubleLE(at));
  u64 = (): number => this.whole(this.from(8, (buffer, at) => buffer.readBigUInt64LE(at)));
  i64 = (): number => this.whole(this.from(8, (buffer, at) => buffer.readBigInt64LE(at)));
  text = (): string => {
    const length = this.u64();
    const start = this.take(length);
    return this.buffer.toString("utf8", start, start + length);
  };
  private whole(value: bigint): number {
    const number = Number(value);
    if (!Number.isSafeInteger(number)) throw ggufError(this.file, `it has a number beyond 2⁵³, ${value}`);
    return number;
  }
}

/** Readers of a value by its type's number in the file; 9 is an array. */
const ARRAY = 9;
const values: readonly (((cursor: Cursor) => MetadataValue) | undefined)[] = [
  (cursor) => cursor.u8(),
  (cursor) => cursor.i8(),
  (cursor) => cursor.u16(),
  (cursor) => cursor.i16(),
  (cursor) => cursor.u32(),
  (cursor) => cursor.i32(),
  (cursor) => cursor.f32(),
  (cursor) => cursor.u8() !== 0,
  (cursor) => cursor.text(),
  undefined,
  (cursor) => cursor.u64(),
  (cursor) => cursor.i64(),
  (cursor) => cursor.f64(),
];

/** Arrays in arrays; files have two at most. */
const DEEPEST = 8;
/** Elements of an array: a vocabulary has less than a million. */
const MOST = 2 ** 24;
/** Bytes of the shortest tensor's entry: lengths of its name and extents, type and offset. */
const LEAST_ENTRY = 24;

function readValue(cursor: Cursor, file: string, type: number, depth = 0): MetadataValue {
  const read = values[type];
  if (read !== undefined) return read(cursor);
  if (type !== ARRAY) throw ggufError(file, `it has a value of the unknown type ${type}`);
  const element = cursor.u32();
  const count = cursor.u64();
  if (depth >= DEEPEST) throw ggufError(file, "its arrays are nested too deeply");
  if (count > Math.min(MOST, cursor.left))
    throw ggufError(file, `it has an array of ${count} values, more than the file can hold`);
  const list: MetadataValue[] = [];
  for (let i = 0; i < count; i++) list.push(readValue(cursor, file, element, depth + 1));
  return list;
}

function readTensor(cursor: Cursor, file: string): TensorInfo {
  const name = cursor.text();
  const dimensions = cursor.u32();
  if (dimensions > 4) throw ggufError(file, `the tensor ${name} has ${dimensions} dimensions`);
  const extents = Array.from({ length: dimensions }, () => cursor.u64()).reverse();
  const number = cursor.u32();
  const type = blockTypes.get(number);
  if (type === undefined)
    throw ggufError(
      file,
      `the tensor ${name} ${kindInWords(number)}`,
      `Use a file with one of ${[...blockTypes.values()].map((known) => known.name).join(", ")}: many models are published in several.`,
    );
  const offset = cursor.u64();
  const bytes = bytesOf(type, extents);
  if (!Number.isSafeInteger(bytes))
    throw ggufError(
      file,
      `the tensor ${name} [${extents.join(", ")}] is not a whole number of ${type.name} blocks`,
    );
  return { name, extents, type, offset, bytes };
}

function parse(cursor: Cursor, file: string): Header {
  if (cursor.size < 24 || cursor.u32() !== Buffer.from("GGUF").readUInt32LE())
    throw ggufError(file, "it does not begin with GGUF", "Name a .gguf file.");
  const version = cursor.u32();
  if (version !== 2 && version !== 3)
    throw ggufError(
      file,
      `it has version ${version}, and this engine reads versions 2 and 3`,
      "Convert it again with a current version of its tool.",
    );
  const tensorCount = cursor.u64();
  const keyCount = cursor.u64();
  const metadata = new Map<string, MetadataValue>();
  for (let i = 0; i < keyCount; i++) metadata.set(cursor.text(), readValue(cursor, file, cursor.u32()));
  if (tensorCount > cursor.left / LEAST_ENTRY)
    throw ggufError(file, `it claims ${tensorCount} tensors, more than the file can hold`);
  const tensors = Array.from({ length: tensorCount }, () => readTensor(cursor, file));
  const alignment = Number(metadata.get("general.alignment") ?? 32);
  if (!(Number.isInteger(alignment) && alignment > 0))
    throw ggufError(file, `its general.alignment is ${alignment}, and must be a whole number from 1`);
  const start = Math.ceil(cursor.position / alignment) * alignment;
  const placed = tensors.map((tensor) => ({ ...tensor, offset: start + tensor.offset }));
  const cut = placed.find(({ offset, bytes }) => offset + bytes > cursor.size);
  if (cut !== undefined)
    throw ggufError(
      file,
      `it is cut short: the tensor ${cut.name} ends after ${cut.offset + cut.bytes} bytes of ${cursor.size}`,
    );
  return { file, metadata, tensors: new Map(placed.map((tensor) => [tensor.name, tensor])) };
}

/** @throws UserError naming the file and what is wrong with it. */
export function readHeader(file: string): Header {
  let descriptor: number;
  try {
    descriptor = openRegular(file);
  } catch (error) {
    throw ggufError(file, readFailure(error), "Correct the path.", error);
  }
  try {
    return parse(new Cursor(file, descriptor, fstatSync(descriptor).size), file);
  } finally {
    closeSync(descriptor);
  }
}
