/**
 * The safetensors format: u64 length of a JSON header, the header, then raw little-endian data. Floats of 64, 32 and
 * 16 bits are read, one tensor at a time; 32 bits are written.
 */
import { closeSync, fstatSync, fsyncSync, openSync, readSync, writeSync } from "node:fs";
import { z } from "zod";
import { readFailure, UserError } from "../../../shared/lib/errors.ts";
import { openRegular } from "../../lib/inputFile.ts";
import { fresh, Scratch, type Room } from "../devices/scratch.ts";

export interface StoredTensor {
  readonly shape: readonly number[];
  readonly data: Float32Array;
}
export type StoredTensors = Readonly<Record<string, StoredTensor>>;

const entrySchema = z.object({
  dtype: z.string(),
  shape: z.array(z.int().nonnegative()),
  data_offsets: z.tuple([z.int(), z.int()]),
});

/** Each tensor's data is looked at once, when its turn has come. */
export function writeSafetensors(
  file: string,
  tensors: StoredTensors,
  metadata: Readonly<Record<string, string>> = {},
): void {
  let offset = 0;
  const header: Record<string, unknown> = { __metadata__: metadata };
  for (const [name, { shape }] of Object.entries(tensors)) {
    const bytes = shape.reduce((product, extent) => product * extent, 4);
    header[name] = { dtype: "F32", shape, data_offsets: [offset, offset + bytes] };
    offset += bytes;
  }
  const text = JSON.stringify(header);
  // Data begins at a multiple of 8, as the format asks; padding is spaces.
  const json = Buffer.from(text + " ".repeat(-Buffer.byteLength(text) & 7));
  const length = Buffer.alloc(8);
  length.writeBigUInt64LE(BigInt(json.length));
  const descriptor = openSync(file, "w");
  try {
    writeAll(descriptor, length);
    writeAll(descriptor, json);
    for (const { data } of Object.values(tensors))
      writeAll(descriptor, new Uint8Array(data.buffer, data.byteOffset, data.byteLength));
    fsyncSync(descriptor);
  } finally {
    closeSync(descriptor);
  }
}
function writeAll(descriptor: number, bytes: Uint8Array): void {
  let written = 0;
  while (written < bytes.length) written += writeSync(descriptor, bytes, written);
}

/** Floats of a half-precision number of every bit pattern: 1 sign, 5 exponent, 10 fraction bits. */
let halves: Float32Array | undefined;
export function halfTable(): Float32Array {
  halves ??= Float32Array.from({ length: 65_536 }, (_, bits) => {
    const [sign, exponent, fraction] = [bits >> 15 ? -1 : 1, (bits >> 10) & 31, bits & 1023];
    if (exponent === 31) return fraction === 0 ? sign * Infinity : NaN;
    return sign * (exponent === 0 ? fraction * 2 ** -24 : (1024 + fraction) * 2 ** (exponent - 25));
  });
  return halves;
}
/** How each element type but that of 32-bit floats becomes them, from the beginning of a buffer. */
interface ElementReader {
  readonly size: number;
  read(bytes: ArrayBuffer, into: Float32Array): void;
}
const readers: Readonly<Record<string, ElementReader>> = {
  F64: { size: 8, read: (bytes, into) => into.set(new Float64Array(bytes, 0, into.length)) },
  F16: {
    size: 2,
    read(bytes, into) {
      const [bits, table] = [new Uint16Array(bytes, 0, into.length), halfTable()];
      for (let i = 0; i < into.length; i++) into[i] = table[bits[i]!]!;
    },
  },
  /** The upper half of a 32-bit float. */
  BF16: {
    size: 2,
    read(bytes, into) {
      const bits = new Uint16Array(bytes, 0, into.length);
      const wide = new Uint32Array(into.buffer, into.byteOffset, into.length);
      for (let i = 0; i < into.length; i++) wide[i] = bits[i]! << 16;
    },
  },
};

interface TensorEntry {
  readonly dtype: string;
  readonly shape: readonly number[];
  /** In the file. */
  readonly start: number;
  readonly bytes: number;
}

/** Bytes of a header, as the format has it. */
const mostHeader = 100_000_000;

/** An open file; its tensors are read one at a time. */
export class SafetensorsFile {
  private readonly entries = new Map<string, TensorEntry>();
  private readonly descriptor: number;
  private readonly scratch = new Scratch();

  /** @throws UserError naming the file where it is missing, cut short or malformed. */
  constructor(readonly file: string) {
    try {
      this.descriptor = openRegular(file);
    } catch (error) {
      throw this.broken(readFailure(error), error);
    }
    try {
      this.readHeader();
    } catch (error) {
      this.close();
      throw error;
    }
  }
  private broken(problem: string, cause?: unknown): UserError {
    return new UserError(`${this.file} cannot be read as safetensors: ${problem}.`, {
      file: this.file,
      code: "safetensors",
      action: "Use another checkpoint: this file is damaged or was made by another program.",
      cause,
    });
  }
  private bytes<B extends ArrayBufferLike>(start: number, bytes: Uint8Array<B>): Uint8Array<B> {
    const { length } = bytes;
    let done = 0;
    while (done < length) {
      // One call reads at most 2 GiB.
      const read = readSync(this.descriptor, bytes, done, Math.min(length - done, 2 ** 30), start + done);
      if (read === 0) throw this.broken("it is cut short");
      done += read;
    }
    return bytes;
  }
  private readHeader(): void {
    const { size } = fstatSync(this.descriptor);
    if (size < 8) throw this.broken("it is shorter than its header");
    const begin = Buffer.from(this.bytes(0, new Uint8Array(8)));
    // What `git clone` leaves in a large file's place where Git LFS is not installed.
    if (begin.toString("latin1") === "version ")
      throw this.broken("it is a pointer of Git LFS, not the file itself (git lfs pull fetches it)");
    const length = Number(begin.readBigUInt64LE());
    if (8 + length > size) throw this.broken("it is cut short");
    if (length > mostHeader)
      throw this.broken(`its header has ${length} bytes, and at most 100 MB are allowed`);
    let header: Record<string, unknown>;
    try {
      const text = Buffer.from(this.bytes(8, new Uint8Array(length))).toString("utf8");
      header = z.record(z.string(), z.unknown()).parse(JSON.parse(text));
    } catch (error) {
      throw this.broken("its header is not JSON", error);
    }
    for (const [name, value] of Object.entries(header)) {
      if (name === "__metadata__") continue;
      const parsed = entrySchema.safeParse(value);
      if (!parsed.success) throw this.broken(`the entry of ${name} is malformed`);
      const { dtype, shape, data_offsets } = parsed.data;
      const [from, to] = data_offsets;
      const start = 8 + length + from;
      if (from < 0 || to < from || 8 + length + to > size)
        throw this.broken(`the data of ${name} is cut short`);
      this.entries.set(name, { dtype, shape, start, bytes: to - from });
    }
  }
  get names(): string[] {
    return [...this.entries.keys()];
  }
  shapeOf(name: string): readonly number[] | undefined {
    return this.entries.get(name)?.shape;
  }
  /**
   * The entry of a tensor that can be read, by the header alone.
   *
   * @throws UserError where the tensor's element type is not one that is read, or its data has another length.
   */
  check(name: string): TensorEntry & { readonly count: number; readonly reader: ElementReader | undefined } {
    const entry = this.entries.get(name);
    if (entry === undefined) throw this.broken(`it has no tensor ${name}`);
    const { dtype, shape, bytes } = entry;
    const reader = readers[dtype];
    if (reader === undefined && dtype !== "F32")
      throw this.broken(
        `${name} is ${dtype}, and this engine reads only F32, ${Object.keys(readers).join(", ")}`,
      );
    const count = shape.reduce((n, extent) => n * extent, 1);
    if (bytes !== (reader?.size ?? 4) * count)
      throw this.broken(`the data of ${name} does not have the length of its extents`);
    return { ...entry, count, reader };
  }
  /** @throws UserError as `check` does, or where the file is cut short. */
  read(name: string, room: Room = fresh): StoredTensor {
    const { shape, start, bytes, count, reader } = this.check(name);
    const data = room(count);
    if (reader === undefined)
      this.bytes(start, new Uint8Array(data.buffer, data.byteOffset, data.byteLength));
    else reader.read(this.bytes(start, this.scratch.bytes(bytes)).buffer, data);
    return { shape, data };
  }
  close(): void {
    closeSync(this.descriptor);
  }
}

/** All tensors of a file. @throws UserError as `SafetensorsFile` does. */
export function readSafetensors(file: string): Record<string, StoredTensor> {
  const open = new SafetensorsFile(file);
  try {
    return Object.fromEntries(open.names.map((name) => [name, open.read(name)]));
  } finally {
    open.close();
  }
}
