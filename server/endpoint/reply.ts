/** What is sent back over HTTP: one JSON value, or events while an answer is written. */
import type { ServerResponse } from "node:http";
import { errorBody, refusalOf, type Api } from "./errors.ts";

export class Reply {
  constructor(
    private readonly response: ServerResponse,
    private readonly api: Api,
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
