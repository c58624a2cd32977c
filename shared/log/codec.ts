/** Records to bytes and back. Both directions are the reference for other writers; see records.ts for the layout. */
import { endianness } from "node:os";
import { UserError } from "../lib/errors.ts";
import { parseShallow } from "../lib/json.ts";
import { toWire } from "../rollouts/rollouts.ts";
import { logColumns, type LogColumn } from "../rollouts/columns.ts";
import { crc32 } from "./crc32.ts";
import {
  kinds,
  logVersion,
  magic,
  type Kind,
  type LogRecord,
  type PlacedRecord,
  type RolloutRecordLog,
} from "./records.ts";
import { conforms } from "./schema.ts";

export const headerBytes = magic.length + 4;
/** `u32 length | u32 crc32 | u8 kind`, before the payload. */
export const prefixBytes = 9;
/** A longer length can only be a damaged one. */
export const maxPayloadBytes = 1024 * 1024 * 1024;

/** How a column's numbers lie in the payload, and what its header calls that. */
type ColumnType = "int32" | "float32" | "float64" | "uint8";
export type ColumnArray = Int32Array | Float32Array | Float64Array | Uint8Array;
interface ColumnHeader<Name extends string = LogColumn> {
  readonly name: Name;
  readonly type: ColumnType;
  readonly length: number;
}

/** Bytes of one element of a column. */
const bytesOf: Readonly<Record<ColumnType, number>> = { int32: 4, float32: 4, float64: 8, uint8: 1 };

function typeOf(column: ColumnArray): ColumnType {
  if (column instanceof Int32Array) return "int32";
  if (column instanceof Float32Array) return "float32";
  return column instanceof Float64Array ? "float64" : "uint8";
}

/** Raw bytes of a typed array, little-endian whatever the machine. */
function littleEndian(column: ColumnArray): Buffer {
  const bytes = Buffer.from(column.buffer, column.byteOffset, column.byteLength);
  if (endianness() === "LE" || column instanceof Uint8Array) return bytes;
  const copy = Buffer.from(bytes);
  return column.BYTES_PER_ELEMENT === 8 ? copy.swap64() : copy.swap32();
}

/** A typed array from little-endian bytes, copied so that alignment never matters. */
function columnFrom(type: ColumnType, bytes: Uint8Array): ColumnArray {
  const own = Buffer.from(new Uint8Array(bytes).buffer);
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
  if (record.kind === "rollout") {
    const { step, index, row, columns } = record;
    return columnar({ step, index, row }, presentOf(columns, logColumns));
  }
  if (record.kind === "placed") {
    const { kind: _, columns, ...fields } = record;
    return columnar(fields, presentOf(columns, placedColumns));
  }
  const { kind: _, ...fields } = record;
  return Buffer.from(wireJson(fields));
}

const placedColumns = ["offset", "length", "crc"] as const;

const presentOf = <Name extends string>(
  columns: Readonly<Partial<Record<Name, ColumnArray>>>,
  order: readonly Name[],
): readonly { readonly name: Name; readonly column: ColumnArray }[] =>
  order.flatMap((name) => {
    const column = columns[name];
    return column === undefined ? [] : [{ name, column }];
  });

/** A JSON header, NUL, and the columns' bytes. */
function columnar(
  fields: Readonly<Record<string, unknown>>,
  present: readonly { readonly name: string; readonly column: ColumnArray }[],
): Buffer {
  const columns: ColumnHeader<string>[] = present.map(({ name, column }) => ({
    name,
    type: typeOf(column),
    length: column.length,
  }));
  const header = Buffer.from(wireJson({ ...fields, columns }));
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

/**
 * A decoded record; `unknown` for a kind that this reader does not know or does not want, `later` for a rollout that it
 * leaves to another pass, `malformed` where the checksum holds but the fields do not.
 */
export type Decoded<Item = LogRecord> =
  | { readonly state: "record"; readonly record: Item }
  | { readonly state: "unknown" | "later" }
  | { readonly state: "malformed"; readonly reason: string };

/** A rollout whose columns are still bytes. */
export interface RolloutHead {
  readonly kind: "rollout";
  readonly step: number;
  readonly index: number;
  readonly row: RolloutRecordLog["row"];
  /** Elements of each column. */
  readonly lengths: Readonly<Partial<Record<LogColumn, number>>>;
}
export type PlainRecord = Exclude<LogRecord, RolloutRecordLog>;

/** Everything in a record. */
export function decodeRecord(kindNumber: number, payload: Buffer): Decoded {
  const kind = kindOf.get(kindNumber);
  if (kind === undefined) return { state: "unknown" };
  if (kind === "placed") return decode(kind, payload, wholePlaced);
  return kind === "rollout" ? decode(kind, payload, wholeRollout) : decode(kind, payload, plainRecord(kind));
}

/** All but the rollouts, which are most of a log; of placed ones their number, without their places. */
export function decodePlain(kindNumber: number, payload: Buffer): Decoded<PlainRecord> {
  const kind = kindOf.get(kindNumber);
  if (kind === undefined) return { state: "unknown" };
  if (kind === "placed") return decode(kind, payload, placedHead);
  return kind === "rollout" ? { state: "later" } : decode(kind, payload, plainRecord(kind));
}

/** Only the rollouts, without their columns, the places of others, and the commits. */
export function decodeRolloutHead(kindNumber: number, payload: Buffer): Decoded<RolloutHead | PlainRecord> {
  const kind = kindOf.get(kindNumber);
  if (kind === "rollout") return decode(kind, payload, rolloutHead);
  if (kind === "placed") return decode(kind, payload, wholePlaced);
  return kind === "commit" ? decode(kind, payload, plainRecord(kind)) : { state: "unknown" };
}

function decode<Item>(kind: Kind, payload: Buffer, read: (payload: Buffer) => Item): Decoded<Item> {
  try {
    return { state: "record", record: read(payload) };
  } catch (error) {
    return {
      state: "malformed",
      reason: `${kind}: ${error instanceof Error ? error.message : String(error)}`,
    };
  }
}

const plainRecord =
  (kind: Kind) =>
  (payload: Buffer): PlainRecord => {
    const conforming = conforms({ kind, ...parseObject(payload.toString("utf8")) });
    if (conforming.ok) return conforming.record;
    throw new TypeError(conforming.reason);
  };

function parseObject(text: string): Record<string, unknown> {
  const value = parseShallow(text);
  if (!isObject(value)) throw new TypeError("the payload is not an object");
  return value;
}

const isObject = (value: unknown): value is Record<string, unknown> =>
  typeof value === "object" && value !== null && !Array.isArray(value);

/** By hand, where the other kinds have a zod schema: there are hundreds of rollouts in a step. */
function checkedRollout(fields: Record<string, unknown>): Pick<RolloutHead, "step" | "index" | "row"> {
  const { step, index, row } = fields;
  if (!isWhole(step)) throw new TypeError("step: expected a whole number");
  if (!isWhole(index)) throw new TypeError("index: expected a whole number");
  if (!isRow(row)) throw new TypeError("row: expected an object with step, group and index");
  return { step, index, row };
}

const isWhole = (value: unknown): value is number => Number.isInteger(value);
const isRow = (value: unknown): value is RolloutRecordLog["row"] =>
  isObject(value) && isWhole(value["step"]) && typeof value["group"] === "string" && isWhole(value["index"]);

/** The header of a payload with columns, and where each of them lies after it. */
function layoutOf(payload: Buffer) {
  const end = payload.indexOf(0);
  const header = parseObject(payload.toString("utf8", 0, end === -1 ? payload.length : end));
  const listed: unknown[] = Array.isArray(header["columns"]) ? header["columns"] : [];
  let offset = end === -1 ? payload.length : end + 1;
  const columns = listed.map((item) => {
    const { name, type, length } = columnHeader(item);
    const start = offset;
    offset += length * bytesOf[type];
    if (offset > payload.length) throw new RangeError(`column ${name} reaches past the record's end`);
    return { name, type, length, start, end: offset };
  });
  return { header, columns };
}

function rolloutLayout(payload: Buffer) {
  const { header, columns } = layoutOf(payload);
  return { ...checkedRollout(header), columns };
}

function placedOf(header: Record<string, unknown>, columns: PlacedRecord["columns"]): PlacedRecord {
  const conforming = conforms({ ...header, kind: "placed", columns });
  if (!conforming.ok) throw new TypeError(conforming.reason);
  if (conforming.record.kind !== "placed") throw new TypeError("another kind");
  return conforming.record;
}

const placedHead = (payload: Buffer): PlacedRecord => placedOf(layoutOf(payload).header, {});

function wholePlaced(payload: Buffer): PlacedRecord {
  const { header, columns: layout } = layoutOf(payload);
  const found = new Map<string, ColumnArray>(
    layout.map(({ name, type, start, end }) => [name, columnFrom(type, payload.subarray(start, end))]),
  );
  const [offset, length, crc] = [found.get("offset"), found.get("length"), found.get("crc")];
  const columns =
    offset instanceof Float64Array && length instanceof Int32Array && crc instanceof Int32Array
      ? { offset, length, crc }
      : {};
  return placedOf(header, columns);
}

function rolloutHead(payload: Buffer): RolloutHead {
  const { step, index, row, columns } = rolloutLayout(payload);
  const lengths: Partial<Record<LogColumn, number>> = {};
  for (const { name, length } of columns) lengths[name] = length;
  return { kind: "rollout", step, index, row, lengths };
}

function wholeRollout(payload: Buffer): RolloutRecordLog {
  const { step, index, row, columns: layout } = rolloutLayout(payload);
  const columns: Partial<Record<LogColumn, ColumnArray>> = {};
  for (const { name, type, start, end } of layout)
    columns[name] = columnFrom(type, payload.subarray(start, end));
  return { kind: "rollout", step, index, row, columns };
}

function columnHeader(item: unknown): ColumnHeader {
  if (!isObject(item)) throw new TypeError("a column header is not an object");
  const { name, type, length } = item;
  if (!isColumnName(name) || !isWhole(length) || length < 0)
    throw new TypeError("a column header needs name, type and length");
  if (type !== "int32" && type !== "float32" && type !== "float64" && type !== "uint8")
    throw new TypeError(`column ${name} has unknown type ${String(type)}`);
  return { name, type, length };
}

/** Columns that a later version adds are kept under their own names. */
const isColumnName = (name: unknown): name is LogColumn => typeof name === "string";
