/** The arrays of saved state as bytes, one after the other, and a list that says which they are. */
import { z } from "zod";
import type { Saved } from "../basics.ts";

const types = { Float64Array, Float32Array, Int32Array } as const;
type Arrays = NonNullable<Saved["arrays"]>;
type TypeName = keyof typeof types;

export const entrySchema = z.object({
  name: z.string(),
  type: z.enum(["Float64Array", "Float32Array", "Int32Array"]),
  length: z.number().int().nonnegative(),
});
export type ArrayEntry = z.output<typeof entrySchema>;

const typeOf = (array: Arrays[string]): TypeName =>
  array instanceof Float64Array
    ? "Float64Array"
    : array instanceof Float32Array
      ? "Float32Array"
      : "Int32Array";

export function packed(arrays: Arrays): { readonly arrays: readonly ArrayEntry[]; readonly bytes: Buffer } {
  const all = Object.entries(arrays);
  return {
    arrays: all.map(([name, array]) => ({ name, type: typeOf(array), length: array.length })),
    bytes: Buffer.concat(
      all.map(([, array]) => Buffer.from(array.buffer, array.byteOffset, array.byteLength)),
    ),
  };
}

const bytesOf = ({ type, length }: ArrayEntry): number => length * types[type].BYTES_PER_ELEMENT;

/** Bytes that the arrays take. */
export const packedBytes = (entries: readonly ArrayEntry[]): number =>
  entries.reduce((sum, entry) => sum + bytesOf(entry), 0);

/** @throws Error where there are more or fewer bytes than the entries say */
export function unpacked(entries: readonly ArrayEntry[], bytes: Buffer): Arrays {
  const wanted = packedBytes(entries);
  if (bytes.length !== wanted) throw new Error(`it has ${bytes.length} bytes instead of ${wanted}`);
  let at = 0;
  return Object.fromEntries(
    entries.map((entry) => {
      const size = bytesOf(entry);
      const copy = new Uint8Array(bytes.subarray(at, at + size));
      at += size;
      return [entry.name, new types[entry.type](copy.buffer)];
    }),
  );
}
