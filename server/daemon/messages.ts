/**
 * Framed messages off a client's socket, counted: how long a header and a message may be, how many questions are under
 * way, and how much of our answers waits unread. A client that sends without an end, or asks and never reads, stops its own connection
 * and no other's.
 */
import type { Socket } from "node:net";
import {
  AbstractMessageReader,
  Disposable,
  ErrorCodes,
  Message,
  SocketMessageWriter,
  type DataCallback,
  type MessageReader,
} from "vscode-jsonrpc/node";
import { messageOf } from "../../shared/lib/errors.ts";

interface MessageLimits {
  /** Bytes of one message. */
  readonly message: number;
  /** Questions that may be under way; further ones are read when one has been answered and its answer has left. */
  readonly underWay: number;
}
/** Before hello: one short question. */
export const strangerLimits: MessageLimits = { message: 1024 * 1024, underWay: 1 };
export const clientLimits: MessageLimits = { message: 256 * 1024 * 1024, underWay: 32 };

const headerBytes = 64 * 1024;
/** Bytes of answers that a client has not taken yet, from which on nothing more is read from it. */
const unreadBytes = 4 * 1024 * 1024;

/** What a client sent is not a message of the protocol: its connection ends, with the reason. */
export class BadMessage extends Error {
  constructor(
    readonly code: number,
    message: string,
  ) {
    super(message);
  }
}

/** Bytes that come in pieces; room grows with what has come, never with what was announced. */
class Pieces {
  private bytes = Buffer.alloc(0);
  length = 0;

  add(piece: Buffer): void {
    const wanted = this.length + piece.length;
    if (wanted > this.bytes.length) {
      const grown = Buffer.allocUnsafe(Math.max(wanted, 2 * this.bytes.length, 1024));
      this.bytes.copy(grown, 0, 0, this.length);
      this.bytes = grown;
    }
    piece.copy(this.bytes, this.length);
    this.length = wanted;
  }

  take(): Buffer {
    const whole = this.bytes.subarray(0, this.length);
    this.clear();
    return whole;
  }

  clear(): void {
    this.bytes = Buffer.alloc(0);
    this.length = 0;
  }
}

const headerEnd = Buffer.from("\r\n\r\n");

export class BoundedReader extends AbstractMessageReader implements MessageReader {
  private waiting: Buffer[] = [];
  private readonly pieces = new Pieces();
  /** Bytes of the header's end that have been seen. */
  private matched = 0;
  /** Length of the message that is being read; undefined: its header is. */
  private bodyLength: number | undefined;
  private underWay = 0;
  private over = false;
  private callback: DataCallback = () => undefined;

  constructor(
    private readonly socket: Socket,
    private readonly limits: () => MessageLimits,
  ) {
    super();
  }

  listen(callback: DataCallback): Disposable {
    this.callback = callback;
    const { socket } = this;
    const data = (chunk: Buffer): void => {
      if (this.over) return;
      this.waiting.push(chunk);
      this.pump();
    };
    const drain = (): void => this.pump();
    const close = (): void => {
      this.forget();
      this.fireClose();
    };
    const error = (reason: Error): void => this.fireError(reason);
    socket.on("data", data).on("drain", drain).on("close", close).on("error", error);
    return Disposable.create(() =>
      socket.off("data", data).off("drain", drain).off("close", close).off("error", error),
    );
  }

  /** An answer has left for the socket. */
  answered(): void {
    this.underWay = Math.max(0, this.underWay - 1);
    this.pump();
  }

  override dispose(): void {
    this.forget();
    super.dispose();
  }

  private forget(): void {
    this.over = true;
    this.waiting = [];
    this.pieces.clear();
  }

  private isFull(): boolean {
    return this.underWay >= this.limits().underWay || this.socket.writableLength > unreadBytes;
  }

  private pump(): void {
    while (!this.over) {
      const chunk = this.waiting[0];
      if (chunk === undefined) break;
      if (this.isFull()) return void this.socket.pause();
      const used = this.consume(chunk);
      if (used === chunk.length) this.waiting.shift();
      else this.waiting[0] = chunk.subarray(used);
    }
    if (!this.over && this.socket.isPaused()) this.socket.resume();
  }

  /** Takes from the chunk to the end of a header or of a message. @returns the bytes taken */
  private consume(chunk: Buffer): number {
    if (this.bodyLength === undefined) return this.consumeHeader(chunk);
    const used = Math.min(chunk.length, this.bodyLength - this.pieces.length);
    this.pieces.add(chunk.subarray(0, used));
    if (this.pieces.length === this.bodyLength) this.deliver();
    return used;
  }

  private consumeHeader(chunk: Buffer): number {
    let used = 0;
    while (used < chunk.length && this.matched < headerEnd.length) {
      const byte = chunk[used++];
      this.matched = byte === headerEnd[this.matched] ? this.matched + 1 : byte === headerEnd[0] ? 1 : 0;
    }
    this.pieces.add(chunk.subarray(0, used));
    if (this.pieces.length > headerBytes)
      return this.fail(ErrorCodes.InvalidRequest, `a header is longer than ${headerBytes} bytes`, used);
    if (this.matched < headerEnd.length) return used;
    this.matched = 0;
    const length = lengthIn(this.pieces.take().toString("latin1"));
    if (typeof length === "string") return this.fail(ErrorCodes.InvalidRequest, length, used);
    const { message } = this.limits();
    if (length > message)
      return this.fail(
        ErrorCodes.InvalidRequest,
        `a message of ${length} bytes was announced, but at most ${message} are read`,
        used,
      );
    this.bodyLength = length;
    if (length === 0) this.deliver();
    return used;
  }

  private deliver(): void {
    this.bodyLength = undefined;
    const body = this.pieces.take();
    let message: Message;
    try {
      message = JSON.parse(body.toString("utf8"));
    } catch (error) {
      const start = body.toString("utf8", 0, 100);
      this.fail(ErrorCodes.ParseError, `a message is not JSON: ${messageOf(error)}: ${start}`, 0);
      return;
    }
    if (Message.isRequest(message)) this.underWay += 1;
    try {
      this.callback(message);
    } catch (error) {
      // As by a cancelled request without an id: nothing that a client sends may end the daemon.
      this.fail(ErrorCodes.InvalidRequest, `a message was not understood: ${messageOf(error)}`, 0);
    }
  }

  private fail(code: number, reason: string, used: number): number {
    this.forget();
    this.socket.pause();
    this.fireError(new BadMessage(code, reason));
    return used;
  }
}

/** What the header says of the length, or what is wrong with it. */
function lengthIn(header: string): number | string {
  const lines = header.split("\r\n").filter((line) => line !== "");
  const fields = lines.map((line) => /^([^:]*):(.*)$/.exec(line));
  if (fields.includes(null)) return "a header has a line without a colon";
  const given = fields.flatMap((field) =>
    field?.[1]?.trim().toLowerCase() === "content-length" ? [field[2]?.trim() ?? ""] : [],
  );
  const [first] = given;
  if (first === undefined) return "a header has no Content-Length";
  if (given.some((value) => value !== first)) return "a header has two Content-Lengths";
  return /^\d{1,15}$/.test(first)
    ? Number(first)
    : `Content-Length is ${first.slice(0, 40)}, but must be a number`;
}

/** Tells the reader of each answer that has left for the socket. */
export class CountedWriter extends SocketMessageWriter {
  constructor(
    socket: Socket,
    private readonly answered: () => void,
  ) {
    super(socket);
  }

  override async write(message: Message): Promise<void> {
    try {
      await super.write(message);
    } finally {
      if (Message.isResponse(message)) this.answered();
    }
  }
}
