/** An HTTP server for programs on this machine: JSON in, JSON out, with a token where there is one. */
import { timingSafeEqual } from "node:crypto";
import { createServer, type IncomingMessage, type Server, type ServerResponse } from "node:http";
import { messageOf, UserError } from "../../../shared/lib/errors.ts";

const mostBytes = 64 * 1024 * 1024;

export type Answered = readonly [status: number, body: object];

export interface LoopbackRequest {
  readonly method: string;
  /** Without the query. */
  readonly path: string;
  readonly text: string;
}

export interface LoopbackOptions {
  /** 0: any that is free. */
  readonly port: number;
  /** That requests must send as `Authorization: Bearer`, or as `token` of the query; undefined: none. */
  readonly token: string | undefined;
  /** GET of it is answered without a token, and says only that the server is there. */
  readonly health: string;
  /** Why a request is not looked at, before its body is read; undefined: it is. */
  readonly refusal: (method: string, path: string) => Answered | undefined;
  readonly answer: (request: LoopbackRequest) => Promise<Answered>;
  /** Called with what a request was refused for. */
  readonly refused?: ((message: string) => void) | undefined;
  /** Of the error where the port cannot be had. */
  readonly code: string;
}

export interface LoopbackServer {
  readonly port: number;
  close(): Promise<void>;
}

async function bodyOf(request: IncomingMessage): Promise<string | undefined> {
  const parts: Buffer[] = [];
  let size = 0;
  for await (const part of request as AsyncIterable<Buffer>) {
    size += part.length;
    if (size > mostBytes) return undefined;
    parts.push(part);
  }
  return Buffer.concat(parts).toString("utf8");
}

function send(response: ServerResponse, status: number, body: object): void {
  response.writeHead(status, { "content-type": "application/json" });
  response.end(JSON.stringify(body));
}

/** Names under which this machine asks itself. A page in a browser that asks by another name is refused. */
const isLocal = (host: string | undefined): boolean =>
  host !== undefined && /^(?:127\.0\.0\.1|localhost|\[::1\])(?::\d+)?$/.test(host);

/** Whether a program of this machine asks, and no page in a browser. */
export const isFromHere = ({ headers }: IncomingMessage): boolean =>
  isLocal(headers.host) && headers.origin === undefined;

/** Of a request's target, which may be anything; undefined where it is no address. */
export function urlOf(target = "/"): URL | undefined {
  const text = target.startsWith("/") ? `http://127.0.0.1${target}` : target;
  return URL.canParse(text) ? new URL(text) : undefined;
}

function isAllowed({ headers }: IncomingMessage, url: URL, token: string | undefined): boolean {
  if (token === undefined) return true;
  const given = headers.authorization ?? `Bearer ${url.searchParams.get("token") ?? ""}`;
  const [sent, wanted] = [Buffer.from(given), Buffer.from(`Bearer ${token}`)];
  return sent.length === wanted.length && timingSafeEqual(sent, wanted);
}

async function answered(request: IncomingMessage, options: LoopbackOptions): Promise<Answered> {
  const { method = "GET", headers } = request;
  const url = urlOf(request.url);
  if (url === undefined) return [400, { error: "the request's address cannot be read" }];
  if (method === "GET" && url.pathname === options.health && isLocal(headers.host))
    return [200, { status: "ok" }];
  if (!isFromHere(request)) return [403, { error: "only programs on this machine are served" }];
  if (!isAllowed(request, url, options.token)) return [401, { error: "the token is missing or wrong" }];
  const no = options.refusal(method, url.pathname);
  if (no !== undefined) return no;
  const text = await bodyOf(request);
  if (text === undefined) return [413, { error: `a request may have ${mostBytes} bytes` }];
  return options.answer({ method, path: url.pathname, text });
}

function listening(server: Server, port: number, code: string): Promise<number> {
  return new Promise((done, failed) => {
    server.once("error", (error) => {
      const used = "code" in error && error.code === "EADDRINUSE";
      failed(
        new UserError(used ? `port ${port} is in use` : `the server cannot listen: ${messageOf(error)}`, {
          code,
          action: "Choose another with --port, or leave it out for one that is free.",
        }),
      );
    });
    server.listen(port, "127.0.0.1", () => {
      const address = server.address();
      done(typeof address === "object" && address !== null ? address.port : port);
    });
  });
}

/** @throws UserError where the port cannot be had */
export async function serveLoopback(options: LoopbackOptions): Promise<LoopbackServer> {
  const server = createServer((request, response) => {
    const respond = async (): Promise<void> => {
      const [status, body] = await answered(request, options);
      if ("error" in body) options.refused?.(String(body.error));
      send(response, status, body);
    };
    respond().catch((error: unknown) => {
      options.refused?.(messageOf(error));
      if (!response.headersSent) send(response, 500, { error: messageOf(error) });
    });
  });
  const port = await listening(server, options.port, options.code);
  return {
    port,
    close: () =>
      new Promise((done) => {
        server.close(() => done());
        server.closeAllConnections();
      }),
  };
}
