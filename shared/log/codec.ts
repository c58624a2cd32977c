/** Records to bytes and back. Both directions are the reference for other writers; see records.ts for the layout. */
import { endianness } from "node:os";
import { UserError } from "../errors.ts";
import { toWire } from "../rollouts.ts";
import { crc32 } from "./crc32.ts";
import { kinds, logVersion, magic, type ColumnName, type Kind, type LogRecord } from "./records.ts";
import { conforms } from "./schema.ts";

export const headerBytes = magic.length + 4;
/** `u32 length | u32 crc32 | u8 kind`, before the payload. */
export const prefixBytes = 9;
/** A longer length can only be a damaged one. */
export const maxPayloadBytes = 1024 * 1024 * 1024;

/** How a column's numbers lie in the payload, and what its header calls that. */
export type ColumnType = "int32" | "float32" | "float64" | "uint8";
export type ColumnArray = Int32Array | Float32Array | Float64Array | Uint8Array;
export interface ColumnHeader {
  readonly name: ColumnName;
  readonly type: ColumnType;
  readonly length: number;
}

const columnOrder: readonly ColumnName[] = [
  "tokens",
  "origin",
  "mask",
  "versions",
  "logp_old",
  "logp_sampled",
  "logp_new",
  "logp_ref",
  "entropy",
  "values",
  "advantages",
  "context",
  "train_context",
];
/** Bytes of one element of a column. */
export const bytesOf: Readonly<Record<ColumnType, number>> = { int32: 4, float32: 4, float64: 8, uint8: 1 };

export function typeOf(column: ColumnArray): ColumnType {
  if (column instanceof Int32Array) return "int32";
  if (column instanceof Float32Array) return "float32";
  return column instanceof Float64Array ? "float64" : "uint8";
}

/** Raw bytes of a typed array, little-endian whatever the machine. */
export function littleEndian(column: ColumnArray): Buffer {
  const bytes = Buffer.from(column.buffer, column.byteOffset, column.byteLength);
  if (endianness() === "LE" || column instanceof Uint8Array) return bytes;
  const copy = Buffer.from(bytes);
  return column.BYTES_PER_ELEMENT === 8 ? copy.swap64() : copy.swap32();
}

/** A typed array from little-endian bytes, copied so that alignment never matters. */
export function columnFrom(type: ColumnType, bytes: Uint8Array): ColumnArray {
  const own = Buffer.from(Uint8Array.from(bytes).buffer);
  if (endianness() === "BE" && type === "float64") own.swap64();
  else if (endianness() === "BE" && type !== "uint8") own.swap32();
  if (type === "int32") return new Int32Array(own.buffer, 0, own.length / 4);
  if (type === "float32") return new Float32Array(own.buffer, 0, own.length / 4);
  return type === "float64" ? new Float64Array(own.buffer, 0, own.length / 8) : new Uint8Array(own.buffer);
}

/** JSON in which a number that is not finite is its wire string: a log never holds a bare NaN, nor a null in its place. */
const wireJson = (value: unknown): string =>
  JSON.stringify(value, (_, item: unknown) =>
    typeof item === "number" && !Number.isFinite(item) ? toWire(item) : item,
  );

function payloadOf(record: LogRecord): Buffer {
  if (record.kind !== "rollout") {
    const { kind: _, ...fields } = record;
    return Buffer.from(wireJson(fields));
  }
  const present = columnOrder.flatMap((name) => {
    const column = record.columns[name];
    return column === undefined ? [] : [{ name, column }];
  });
  const columns: ColumnHeader[] = present.map(({ name, column }) => ({
    name,
    type: typeOf(column),
    length: column.length,
  }));
  const header = Buffer.from(wireJson({ step: record.step, index: record.index, row: record.row, columns }));
  return Buffer.concat([header, Buffer.from([0]), ...present.map(({ column }) => littleEndian(column))]);
}

export function segmentHeader(): Buffer {
  const header = Buffer.alloc(headerBytes);
  header.write(magic, "latin1");
  header.writeUInt32LE(logVersion, magic.length);
  return header;
}

/** The whole record as it lies in a segment. */
export function encodeRecord(record: LogRecord): Buffer {
  const payload = payloadOf(record);
  if (payload.length > maxPayloadBytes) {
    throw new UserError(
      `A ${record.kind} record of ${payload.length} bytes is larger than the log allows (${maxPayloadBytes}).`,
      { action: "Generate fewer or shorter rollouts in one step." },
    );
  }
  const bytes = Buffer.allocUnsafe(prefixBytes + payload.length);
  bytes.writeUInt32LE(payload.length, 0);
  bytes.writeUInt8(kinds[record.kind], 8);
  payload.copy(bytes, prefixBytes);
  bytes.writeUInt32LE(crc32(bytes.subarray(8)), 4);
  return bytes;
}

const kindOf = new Map<number, Kind>(
  Object.entries(kinds).flatMap(([name, number]) => (isKind(name) ? [[number, name] as const] : [])),
);
function isKind(name: string): name is Kind {
  return name in kinds;
}

/** A decoded record; `unknown` for a kind of a later version, `malformed` where the checksum holds but the fields do not. */
export type Decoded =
  | { readonly state: "record"; readonly record: LogRecord }
  | { readonly state: "unknown" }
  | { readonly state: "malformed"; readonly reason: string };

export function decodeRecord(kindNumber: number, payload: Buffer): Decoded {
  const kind = kindOf.get(kindNumber);
  if (kind === undefined) return { state: "unknown" };
  try {
    const record =
      kind === "rollout" ? decodeRollout(payload) : { kind, ...parseObject(payload.toString("utf8")) };
    const problem = conforms(record);
    if (problem.ok) return { state: "record", record: problem.record };
    return { state: "malformed", reason: `${kind}: ${problem.reason}` };
  } catch (error) {
    return {
      state: "malformed",
      reason: `${kind}: ${error instanceof Error ? error.message : String(error)}`,
    };
  }
}

function parseObject(text: string): Record<string, unknown> {
  const value: unknown = JSON.parse(text);
  if (typeof value !== "object" || value === null || Array.isArray(value))
    throw new TypeError("the payload is not an object");
  return { ...value };
}

function decodeRollout(payload: Buffer): Record<string, unknown> {
  const end = payload.indexOf(0);
  const header = parseObject(payload.toString("utf8", 0, end === -1 ? payload.length : end));
  const listed: unknown[] = Array.isArray(header["columns"]) ? header["columns"] : [];
  const columns: Record<string, ColumnArray> = {};
  let offset = end === -1 ? payload.length : end + 1;
  for (const item of listed) {
    const { name, type, length } = columnHeader(item);
    const bytes = length * bytesOf[type];
    if (offset + bytes > payload.length) throw new RangeError(`column ${name} reaches past the record's end`);
    columns[name] = columnFrom(type, payload.subarray(offset, offset + bytes));
    offset += bytes;
  }
  return { kind: "rollout", step: header["step"], index: header["index"], row: header["row"], columns };
}

function columnHeader(item: unknown): { name: string; type: ColumnType; length: number } {
  if (typeof item !== "object" || item === null) throw new TypeError("a column header is not an object");
  const { name, type, length } = { name: undefined, type: undefined, length: undefined, ...item } as Record<
    string,
    unknown
  >;
  if (typeof name !== "string" || typeof length !== "number" || !Number.isInteger(length) || length < 0)
    throw new TypeError("a column header needs name, type and length");
  if (type !== "int32" && type !== "float32" && type !== "float64" && type !== "uint8")
    throw new TypeError(`column ${name} has unknown type ${String(type)}`);
  return { name, type, length };
}
