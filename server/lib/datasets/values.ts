/** Values of Parquet and Arrow files as JSON. */
import type { Json } from "../../../shared/lib/json.ts";

/**
 * Whole numbers beyond 2^53 and decimals are as near as a number comes, times are ISO 8601, bytes that are no UTF-8 text
 * are null.
 */
export function jsonOf(value: unknown): Json {
  switch (typeof value) {
    case "string":
    case "number":
    case "boolean":
      return value;
    case "bigint":
      return Number(value);
    case "object":
      break;
    default:
      return null;
  }
  if (value === null) return null;
  if (Array.isArray(value)) return value.map(jsonOf);
  if (value instanceof Date) return value.toISOString();
  if (value instanceof Uint8Array) return textOf(value);
  if (ArrayBuffer.isView(value)) return Array.from(value as Int32Array | BigInt64Array, jsonOf);
  const entries = value instanceof Map ? [...value] : Object.entries(value);
  return Object.fromEntries(entries.map(([key, item]) => [String(key), jsonOf(item)]));
}

const text = new TextDecoder("utf-8", { fatal: true });

/** Some writers do not say of their texts that they are texts. */
function textOf(bytes: Uint8Array): string | null {
  try {
    return text.decode(bytes);
  } catch (error) {
    if (error instanceof TypeError) return null;
    throw error;
  }
}
