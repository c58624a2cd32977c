/**
 * TensorBoard's event files: records of TFRecord, each an `Event` of Protocol Buffers. Scalars come as a number
 * (`simple_value`, as PyTorch and TensorFlow 1 write them) or as a tensor of the plug-in `scalars` (TensorFlow 2).
 */
import { doubleOf, fieldsOf, floatOf, lastField, textField, wholeOf } from "../../../lib/growing/protobuf.ts";
import { maskedCrc32c } from "../../../lib/growing/crc32c.ts";
import type { Framed } from "../../../lib/growing/recordTail.ts";

/** `u64 length | u32 checksum of it | data | u32 checksum of them`. */
export function tfRecord(bytes: Buffer, at: number): Framed {
  if (at + 12 > bytes.length) return { state: "short", needs: 12 };
  const head = bytes.subarray(at, at + 8);
  if (maskedCrc32c(head) !== bytes.readUInt32LE(at + 8)) return { state: "damaged" };
  const length = Number(head.readBigUInt64LE(0));
  if (at + 16 + length > bytes.length) return { state: "short", needs: 16 + length };
  const payload = bytes.subarray(at + 12, at + 12 + length);
  if (maskedCrc32c(payload) !== bytes.readUInt32LE(at + 12 + length)) return { state: "damaged" };
  return { state: "record", payload, length: length + 16 };
}

export interface EventValues {
  readonly step: number;
  readonly time: number;
  readonly scalars: Readonly<Record<string, number>>;
  readonly texts: Readonly<Record<string, string>>;
}

/** @param plugins of tags, which only a tag's first value may name; brought up to date @throws RangeError where it is no event */
export function eventValues(payload: Buffer, plugins: Map<string, string>): EventValues {
  let [step, time] = [0, 0];
  const scalars: Record<string, number> = {};
  const texts: Record<string, string> = {};
  for (const field of fieldsOf(payload)) {
    if (field.number === 1) time = doubleOf(field);
    if (field.number === 2) step = wholeOf(field);
    if (field.number !== 5) continue;
    for (const value of fieldsOf(field.bytes)) {
      if (value.number !== 1) continue;
      const { tag, scalar, text } = summaryValue(value.bytes, plugins);
      if (scalar !== undefined) scalars[tag] = scalar;
      if (text !== undefined) texts[tag] = text;
    }
  }
  return { step, time, scalars, texts };
}

function summaryValue(
  value: Buffer,
  plugins: Map<string, string>,
): { readonly tag: string; readonly scalar?: number; readonly text?: string } {
  const tag = textField(value, 1) ?? "";
  const metadata = lastField(value, 9);
  const plugin = metadata === undefined ? undefined : lastField(metadata.bytes, 1);
  const name = plugin === undefined ? undefined : textField(plugin.bytes, 1);
  if (name !== undefined) plugins.set(tag, name);
  const simple = lastField(value, 2);
  if (simple !== undefined) return { tag, scalar: floatOf(simple) };
  const tensor = lastField(value, 8);
  if (tensor === undefined) return { tag };
  const known = plugins.get(tag);
  if (known === "text") return { tag, text: textField(tensor.bytes, 8) ?? "" };
  const scalar = known === "scalars" ? tensorNumber(tensor.bytes) : undefined;
  return scalar === undefined ? { tag } : { tag, scalar };
}

/** How a type's number lies in `tensor_content`, by the type; float, double, int32, int64. */
const content: Readonly<Record<number, (bytes: Buffer) => number>> = {
  1: (bytes) => bytes.readFloatLE(0),
  2: (bytes) => bytes.readDoubleLE(0),
  3: (bytes) => bytes.readInt32LE(0),
  9: (bytes) => Number(bytes.readBigInt64LE(0)),
};

/** Of a tensor with one element; undefined: it has another type, or none. */
function tensorNumber(tensor: Buffer): number | undefined {
  for (const field of fieldsOf(tensor)) {
    // Packed or not, one number is as many bytes.
    if (field.number === 5) return field.bytes.length >= 4 ? field.bytes.readFloatLE(0) : undefined;
    if (field.number === 6) return field.bytes.length >= 8 ? field.bytes.readDoubleLE(0) : undefined;
    if (field.number === 7 || field.number === 10)
      return field.bytes.length === 0 ? wholeOf(field) : packedWhole(field.bytes);
    if (field.number === 4 && field.bytes.length > 0) {
      const type = lastField(tensor, 1);
      return type === undefined ? undefined : content[wholeOf(type)]?.(field.bytes);
    }
  }
  return undefined;
}

function packedWhole(bytes: Buffer): number | undefined {
  // The first varint, read as the value of field 1.
  const field = lastField(Buffer.concat([Buffer.from([8]), bytes.subarray(0, 10)]), 1);
  return field === undefined ? undefined : wholeOf(field);
}
