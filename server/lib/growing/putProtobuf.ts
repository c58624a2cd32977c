/** Fields of messages of Protocol Buffers by their numbers, as bytes: a message is its fields, one after the other. */

/** @param value of 64 bits; a negative one is of int64 */
function varint(value: number | bigint): Buffer {
  const bytes: number[] = [];
  let rest = BigInt.asUintN(64, BigInt(value));
  for (; rest >= 0x80n; rest >>= 7n) bytes.push(Number(rest & 0x7fn) | 0x80);
  bytes.push(Number(rest));
  return Buffer.from(bytes);
}

const key = (number: number, type: number): Buffer => varint(number * 8 + type);

/** int32, int64, bool or enum. */
export const putWhole = (number: number, value: number): Buffer =>
  Buffer.concat([key(number, 0), varint(value)]);

export function putDouble(number: number, value: number): Buffer {
  const bytes = Buffer.alloc(8);
  bytes.writeDoubleLE(value);
  return Buffer.concat([key(number, 1), bytes]);
}

export function putFloat(number: number, value: number): Buffer {
  const bytes = Buffer.alloc(4);
  bytes.writeFloatLE(value);
  return Buffer.concat([key(number, 5), bytes]);
}

/** A message within a message, by its fields. */
export function putMessage(number: number, ...fields: readonly Buffer[]): Buffer {
  const length = fields.reduce((sum, field) => sum + field.length, 0);
  return Buffer.concat([key(number, 2), varint(length), ...fields]);
}

export const putText = (number: number, text: string): Buffer => putMessage(number, Buffer.from(text));
