/** The safetensors format: u64 length of a JSON header, the header, then raw little-endian data. Only F32 is used here. */
import { closeSync, fsyncSync, openSync, readFileSync, writeSync } from "node:fs";
import { z } from "zod";
import { messageOf, UserError } from "../../shared/errors.ts";

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

export function writeSafetensors(
  file: string,
  tensors: StoredTensors,
  metadata: Readonly<Record<string, string>> = {},
): void {
  let offset = 0;
  const header: Record<string, unknown> = { __metadata__: metadata };
  for (const [name, { shape, data }] of Object.entries(tensors)) {
    header[name] = { dtype: "F32", shape, data_offsets: [offset, offset + data.byteLength] };
    offset += data.byteLength;
  }
  const text = JSON.stringify(header);
  // Data begins at a multiple of 8, as the format asks; padding is spaces.
  const json = Buffer.from(text.padEnd(Math.ceil(text.length / 8) * 8));
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

/** @throws UserError naming the file where it is missing, cut short or holds another element type. */
export function readSafetensors(file: string): Record<string, StoredTensor> {
  const broken = (message: string, cause?: unknown): UserError =>
    new UserError(`${file} cannot be read as safetensors: ${message}.`, {
      file,
      code: "safetensors",
      action: "Use another checkpoint: this file is damaged or was made by another program.",
      cause,
    });
  let bytes: Buffer;
  try {
    bytes = readFileSync(file);
  } catch (error) {
    throw broken(messageOf(error), error);
  }
  if (bytes.length < 8) throw broken("it is shorter than its header");
  const headerLength = Number(bytes.readBigUInt64LE());
  if (8 + headerLength > bytes.length) throw broken("it is cut short");
  const start = 8 + headerLength;
  let header: Record<string, unknown>;
  try {
    header = z.record(z.string(), z.unknown()).parse(JSON.parse(bytes.toString("utf8", 8, start)));
  } catch (error) {
    throw broken("its header is not JSON", error);
  }
  const tensors: Record<string, StoredTensor> = {};
  for (const [name, value] of Object.entries(header)) {
    if (name === "__metadata__") continue;
    const entry = entrySchema.safeParse(value);
    if (!entry.success) throw broken(`the entry of ${name} is malformed`);
    const { dtype, shape, data_offsets } = entry.data;
    const [from, to] = data_offsets;
    if (dtype !== "F32") throw broken(`${name} is ${dtype}, and only F32 is read`);
    if (to - from !== 4 * shape.reduce((n, extent) => n * extent, 1) || start + to > bytes.length || from < 0)
      throw broken(`the data of ${name} is cut short`);
    // A copy, so that the array is aligned and the file's buffer can go.
    tensors[name] = {
      shape,
      data: new Float32Array(new Uint8Array(bytes.subarray(start + from, start + to)).buffer),
    };
  }
  return tensors;
}
