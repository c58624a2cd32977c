/** Messages between this process and one that runs programs: four bytes of length, then JSON. */
import { readSync, writeSync } from "node:fs";

const head = 4;

export function frameOf(message: unknown): Buffer {
  const body = Buffer.from(JSON.stringify(message));
  const frame = Buffer.allocUnsafe(head + body.length);
  frame.writeUInt32LE(body.length);
  body.copy(frame, head);
  return frame;
}

/** Takes frames out of what comes in pieces. */
export class Frames {
  #pieces: Buffer[] = [];
  #held = 0;
  /** @param most bytes of a frame. @param hear the text of each */
  constructor(
    private readonly most: number,
    private readonly hear: (text: string) => void,
  ) {}

  /** @throws RangeError where a frame is larger than it may be */
  push(piece: Buffer): void {
    this.#pieces.push(piece);
    this.#held += piece.length;
    for (let length = this.#length(); length !== undefined; length = this.#length()) {
      const whole = Buffer.concat(this.#pieces);
      const rest = whole.subarray(head + length);
      this.#pieces = [rest];
      this.#held = rest.length;
      this.hear(whole.toString("utf8", head, head + length));
    }
  }

  /** Of the first frame, where all of it is there. */
  #length(): number | undefined {
    if (this.#held < head) return undefined;
    if ((this.#pieces[0]?.length ?? 0) < head) this.#pieces = [Buffer.concat(this.#pieces)];
    const length = this.#pieces[0]?.readUInt32LE() ?? 0;
    if (length > this.most) throw new RangeError(`a message of ${length} bytes`);
    return this.#held < head + length ? undefined : length;
  }
}

/** undefined: the other end is closed. Waits, and lets nothing else happen meanwhile. */
export function readFrame(fd: number): unknown {
  const length = exactly(fd, head)?.readUInt32LE();
  const body = length === undefined ? undefined : exactly(fd, length);
  return body === undefined ? undefined : JSON.parse(body.toString());
}

function exactly(fd: number, length: number): Buffer | undefined {
  const bytes = Buffer.allocUnsafe(length);
  for (let at = 0; at < length;) {
    const count = readSync(fd, bytes, at, length - at, null);
    if (count === 0) return undefined;
    at += count;
  }
  return bytes;
}

export function writeFrame(fd: number, message: unknown): void {
  const frame = frameOf(message);
  for (let at = 0; at < frame.length;) at += writeSync(fd, frame, at);
}
