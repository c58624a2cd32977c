/** Messages of an agent, a line each. One that is too long is refused in place of the whole connection, which the SDK would close. */
import { Transform, type TransformCallback } from "node:stream";

/** Bytes of one message; below what the SDK closes the connection for. */
export const MOST_MESSAGE = 8 * 2 ** 20;
/** Bytes at both ends of a message in which its id is looked for: clients write it first or last. */
const ENDS = 512;

/** The id of a request of which both ends are known; null: it has none there. */
function idOf(head: string, tail: string): string | null {
  const id = String.raw`"id"\s*:\s*(-?\d{1,15}|"[^"\\]{0,100}")`;
  const first = new RegExp(String.raw`^\s*\{(?:\s*"jsonrpc"\s*:\s*"2\.0"\s*,)?\s*${id}\s*,`).exec(head);
  const last = new RegExp(
    String.raw`\}\s*,\s*(?:"jsonrpc"\s*:\s*"2\.0"\s*,\s*)?${id}\s*(?:,\s*"jsonrpc"\s*:\s*"2\.0"\s*)?\}\s*$`,
  ).exec(tail);
  return first?.[1] ?? last?.[1] ?? null;
}

const refusalTo = (id: string | null): string =>
  `{"jsonrpc":"2.0","id":${id},"error":{"code":-32600,"message":"The message is longer than ${MOST_MESSAGE / 2 ** 20} MiB. Send less: a file that is on disk can be named by its path."}}\n`;

/** Passes lines on, but for those that are too long: `refuse` is given what answers them. */
export class Messages extends Transform {
  private parts: Buffer[] = [];
  private length = 0;
  private head = "";
  private tail = "";

  constructor(private readonly refuse: (answer: string) => void) {
    super();
  }

  override _transform(chunk: Buffer, _encoding: BufferEncoding, done: TransformCallback): void {
    let from = 0;
    for (let end = chunk.indexOf(10); end >= 0; end = chunk.indexOf(10, from)) {
      this.keep(chunk.subarray(from, end + 1));
      this.endLine();
      from = end + 1;
    }
    this.keep(chunk.subarray(from));
    done();
  }

  private keep(part: Buffer): void {
    this.length += part.length;
    if (this.length <= MOST_MESSAGE) return void this.parts.push(part);
    if (this.parts.length > 0) {
      const known = Buffer.concat(this.parts);
      this.head = known.toString("utf8", 0, ENDS);
      this.parts = [];
    }
    this.tail = (this.tail + part.toString("utf8", Math.max(0, part.length - ENDS))).slice(-ENDS);
  }
  private endLine(): void {
    if (this.length <= MOST_MESSAGE) for (const part of this.parts) this.push(part);
    else this.refuse(refusalTo(idOf(this.head, this.tail)));
    [this.parts, this.length, this.head, this.tail] = [[], 0, "", ""];
  }
}
