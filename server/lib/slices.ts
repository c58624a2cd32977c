/**
 * A long column a slice at a time. A loop that is entered once and runs long is compiled in its middle, where every number
 * is an object until it is known to be one; a function that is called with one slice after the other is compiled as a whole.
 */
const most = 1024;

/** Calls `visit` with [from, to) one after the other, up to `size`. */
export function inSlices(size: number, visit: (from: number, to: number) => void): void {
  for (let from = 0; from < size; from += most) visit(from, Math.min(size, from + most));
}

/** Whether a byte is among a column's. The search for bytes in a buffer looks at many at once. */
export const hasByte = ({ buffer, byteOffset, length }: Uint8Array, byte: number): boolean =>
  Buffer.from(buffer, byteOffset, length).includes(byte);
