/** What is sent back over HTTP: one JSON value, or events while an answer is written. */
import { maxHeaderSize, STATUS_CODES, type ServerResponse } from "node:http";
import type { Duplex } from "node:stream";
import { errorBody, Refusal, refusalOf, type Api } from "./errors.ts";

export class Reply {
  constructor(
    private readonly response: ServerResponse,
    private readonly api: Api,
    /** Bytes that may wait for the client. */
    private readonly unread: number,
  ) {}

  /** @param version of the weights that answered; undefined where none did */
  json(version: number | undefined, body: object, status = 200): void {
    this.head(version, status, "application/json");
    this.response.end(JSON.stringify(body));
  }
  /** Begins a stream of events. */
  stream(version: number): void {
    this.head(version, 200, "text/event-stream; charset=utf-8");
  }
  event(body: object, name?: string): void {
    // It does not read what it asked for, which would be kept for it.
    if (this.response.writableLength > this.unread) return void this.response.destroy();
    this.response.write(`${name === undefined ? "" : `event: ${name}\n`}data: ${JSON.stringify(body)}\n\n`);
  }
  done(word?: string): void {
    this.response.end(word === undefined ? undefined : `data: ${word}\n\n`);
  }
  /** In the API's own shape; of an answer that has begun, as an event. */
  refuse(error: unknown): void {
    const refusal = refusalOf(error);
    const body = errorBody(this.api, refusal);
    if (!this.response.headersSent) return this.json(undefined, body, refusal.status);
    if (this.response.writableEnded) return;
    this.event(body, this.api === "anthropic" ? "error" : undefined);
    this.done();
  }

  private head(version: number | undefined, status: number, type: string): void {
    this.response.writeHead(status, {
      "content-type": type,
      "cache-control": "no-store",
      ...(version !== undefined && { "x-gradus-version": String(version) }),
    });
  }
}

/** What Node's server could not read as a request, or what came too slowly. */
export function refuseUnread(error: NodeJS.ErrnoException, socket: Duplex): void {
  if (!socket.writable) return void socket.destroy();
  const refusal =
    error.code === "HPE_HEADER_OVERFLOW"
      ? new Refusal(
          431,
          "headers_too_large",
          `The request's headers are longer than ${maxHeaderSize} bytes. Send less.`,
        )
      : error.code === "ERR_HTTP_REQUEST_TIMEOUT"
        ? new Refusal(408, "timeout", "The request did not come to its end in time. Send it again.")
        : new Refusal(
            400,
            "invalid_request",
            "This is no HTTP request that can be read. Correct it and ask again.",
          );
  const body = JSON.stringify(errorBody("openai", refusal));
  socket.end(
    `HTTP/1.1 ${refusal.status} ${STATUS_CODES[refusal.status]}\r\ncontent-type: application/json\r\ncontent-length: ${Buffer.byteLength(body)}\r\nconnection: close\r\n\r\n${body}`,
  );
}
