/**
 * Room that is used again for one tensor after another. An array of its own for each would stay until garbage is
 * collected, which knows little of how large these are.
 */
export class Scratch {
  private buffer = new ArrayBuffer(0);

  /** Stands until the next call. */
  bytes(count: number): Uint8Array<ArrayBuffer> {
    if (this.buffer.byteLength < count) this.buffer = new ArrayBuffer(count);
    return new Uint8Array(this.buffer, 0, count);
  }
  /** The same for 32-bit floats. */
  floats(count: number): Float32Array<ArrayBuffer> {
    return new Float32Array(this.bytes(4 * count).buffer, 0, count);
  }
}
