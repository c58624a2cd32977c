/** Messages of Protocol Buffers, field by field: enough to read a few numbers and texts out of files, by their numbers. */

export interface Field {
  readonly number: number;
  /** Of a varint or a fixed-width number its bits; of anything else 0. */
  readonly bits: bigint;
  /** Of a text, bytes, a message or packed numbers; else those of a fixed-width number. */
  readonly bytes: Buffer;
}

const empty = Buffer.alloc(0);

/** @throws RangeError where the bytes are no message */
export function* fieldsOf(message: Buffer): Generator<Field> {
  let at = 0;
  const varint = (): bigint => {
    let value = 0n;
    for (let shift = 0n; shift < 70n; shift += 7n) {
      const byte = message.readUInt8(at++);
      value |= BigInt(byte & 0x7f) << shift;
      if (byte < 0x80) return BigInt.asUintN(64, value);
    }
    throw new RangeError("a number of more than ten bytes");
  };
  const take = (length: number): Buffer => {
    if (at + length > message.length) throw new RangeError("a field reaches past its message");
    at += length;
    return message.subarray(at - length, at);
  };
  while (at < message.length) {
    const key = varint();
    const number = Number(key >> 3n);
    switch (Number(key & 7n)) {
      case 0:
        yield { number, bits: varint(), bytes: empty };
        break;
      case 1: {
        const bytes = take(8);
        yield { number, bits: bytes.readBigUInt64LE(0), bytes };
        break;
      }
      case 2:
        yield { number, bits: 0n, bytes: take(Number(varint())) };
        break;
      case 5: {
        const bytes = take(4);
        yield { number, bits: BigInt(bytes.readUInt32LE(0)), bytes };
        break;
      }
      default:
        throw new RangeError(`field ${number} has a type that is not known`);
    }
  }
}

/** The last field of a number: that is the one which counts. */
export function lastField(message: Buffer, number: number): Field | undefined {
  let found: Field | undefined;
  for (const field of fieldsOf(message)) if (field.number === number) found = field;
  return found;
}

export const textField = (message: Buffer, number: number): string | undefined =>
  lastField(message, number)?.bytes.toString("utf8");

export const doubleOf = ({ bytes }: Field): number =>
  bytes.length === 8 ? bytes.readDoubleLE(0) : Number.NaN;
export const floatOf = ({ bytes }: Field): number => (bytes.length === 4 ? bytes.readFloatLE(0) : Number.NaN);
/** Of int64 and int32. */
export const wholeOf = ({ bits }: Field): number => Number(BigInt.asIntN(64, bits));
/** Of sint64. */
export const zigzagOf = ({ bits }: Field): number => Number((bits >> 1n) ^ -(bits & 1n));
