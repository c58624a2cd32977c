/**
 * Room that is used again for one array after another. Arrays of their own would stay until garbage is collected, which
 * happens late where most of what is held is not JavaScript's.
 */
export class Scratch {
  private kept = new ArrayBuffer(0);
  private large: ArrayBuffer | undefined;

  private room(bytes: number): ArrayBuffer {
    this.release();
    if (bytes > MOST_KEPT) return (this.large = new ArrayBuffer(bytes, { maxByteLength: bytes }));
    if (this.kept.byteLength < bytes) this.kept = new ArrayBuffer(2 ** Math.ceil(Math.log2(bytes)));
    return this.kept;
  }
  /** Stands until the next call, with values of the one before. */
  bytes(count: number): Uint8Array<ArrayBuffer> {
    return new Uint8Array(this.room(count), 0, count);
  }
  /** The same for 32-bit floats. They do not begin where TensorFlow would take them over (see `Runtime.copy`). */
  readonly floats = (count: number): Float32Array<ArrayBuffer> =>
    new Float32Array(this.room(OFFSET + 4 * count), OFFSET, count);
  /** Gives large rooms back to the system at once, which only a buffer that can be resized does. */
  release(): void {
    this.large?.resize(0);
    this.large = undefined;
  }
}

/** Bytes of room that stays. */
const MOST_KEPT = 2 ** 24;
/** Buffers begin at a multiple of 16 at least. */
const OFFSET = 4;

/** Where an array of so many floats is to be written. */
export type Room = (count: number) => Float32Array;
export const fresh: Room = (count) => new Float32Array(count);
