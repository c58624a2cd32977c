/** One connection: hello first, then what its role may ask. Whatever goes wrong on it ends this connection only. */
import { createHash, timingSafeEqual } from "node:crypto";
import type { Socket } from "node:net";
import { ErrorCodes, ResponseError, type CancellationToken } from "vscode-jsonrpc/node";
import { createProtocolConnection, type ProtocolConnection } from "vscode-languageserver-protocol/node";
import { messageOf } from "../../shared/lib/errors.ts";
import {
  errorCodes,
  hello,
  protocolVersion,
  subscribe,
  unsubscribe,
  type HelloResult,
  type ParamsOf,
  type ResultOf,
} from "../../shared/protocol/protocol.ts";
import { asResponse, checked } from "./failure.ts";
import { Subscription, type ReadChanges } from "./feed.ts";
import type { Handlers } from "./handlers.ts";
import { serveLanguage, type LanguageSources } from "./language.ts";
import { BadMessage, BoundedReader, CountedWriter, clientLimits, strangerLimits } from "./messages.ts";
import { LimitedLog, brief } from "./sparingLog.ts";
import { Turns } from "./turns.ts";

/** A connection that has not said hello by then is closed. */
const helloWithin = 10_000;
/** A refused client has so long to read why. */
const refusalReadWithin = 200;

interface ClientContext {
  readonly token: string;
  readonly handlers: Handlers;
  readonly describe: () => HelloResult;
  readonly changes: ReadChanges;
  readonly version: string;
  readonly sources: LanguageSources;
  readonly log: (text: string) => void;
  readonly closed: (client: Client) => void;
}

/** Compared by digest, so that neither content nor length shows in the time it takes. */
function sameToken(given: string, expected: string): boolean {
  const digest = (text: string): Buffer => createHash("sha256").update(text).digest();
  return timingSafeEqual(digest(given), digest(expected));
}

export class Client {
  role: ParamsOf<typeof hello>["role"] | undefined;
  private readonly connection: ProtocolConnection;
  private subscription: Subscription | undefined;
  private readonly timer: NodeJS.Timeout;
  private endLanguage: () => void = () => undefined;
  private gone = false;
  private readonly turns = new Turns();
  /** What the connection says of messages that are none. */
  private readonly complaints: LimitedLog;

  constructor(
    private readonly socket: Socket,
    private readonly context: ClientContext,
  ) {
    this.complaints = new LimitedLog(context.log);
    const reader = new BoundedReader(socket, () => (this.role === undefined ? strangerLimits : clientLimits));
    this.connection = createProtocolConnection(reader, new CountedWriter(socket, () => reader.answered()), {
      error: (text) => this.complain(text),
      warn: (text) => this.complain(text),
      info: () => undefined,
      log: () => undefined,
    });
    this.connection.onRequest(hello.method, (parameters: unknown) => this.hello(parameters));
    for (const [method, answer] of Object.entries(context.handlers))
      this.connection.onRequest(method, (parameters: unknown, token: CancellationToken) =>
        this.known(() => this.turns.take(method, () => answer(parameters, token))),
      );
    this.connection.onRequest(subscribe.method, (parameters: unknown) =>
      this.known(() => this.subscribe(parameters)),
    );
    this.connection.onRequest(unsubscribe.method, () => this.known(() => this.unsubscribe()));
    this.connection.onError(([error]) => this.failed(error));
    this.connection.onClose(() => this.close());
    socket.on("error", () => this.close());
    socket.on("close", () => this.close());
    this.timer = setTimeout(() => this.close("no hello"), helloWithin);
    this.connection.listen();
  }

  /** The feed has grown. */
  grown(cursor: number): void {
    this.subscription?.grown(cursor);
  }

  /** What is no message is answered with why, and ends the connection. */
  private failed(error: Error): void {
    // A client that has left is no news.
    if (!(error instanceof BadMessage)) return this.close(this.socket.writable ? error.message : undefined);
    if (this.gone) return;
    const { code, message } = error;
    const body = JSON.stringify({ jsonrpc: "2.0", id: null, error: { code, message } });
    this.socket.end(`Content-Length: ${Buffer.byteLength(body)}\r\n\r\n${body}`);
    this.context.log(`a client is closed: ${brief(message)}`);
    setTimeout(() => this.close(), refusalReadWithin).unref();
  }

  private complain(text: string): void {
    if (this.socket.writable) this.complaints.add(text);
  }

  close(reason?: string): void {
    if (this.gone) return;
    this.gone = true;
    clearTimeout(this.timer);
    this.subscription?.close();
    this.endLanguage();
    this.connection.dispose();
    this.socket.destroy();
    if (reason !== undefined) this.context.log(`a client was closed: ${brief(reason)}`);
    this.complaints.close();
    this.context.closed(this);
  }

  private hello(value: unknown): HelloResult | ResponseError<unknown> {
    if (this.role !== undefined)
      return new ResponseError(ErrorCodes.InvalidRequest, "gradus/hello was already sent");
    const parameters = checked(hello.params, hello.method, value);
    if (!sameToken(parameters.token, this.context.token))
      return this.refuse(
        errorCodes.badToken,
        "The token does not belong to this daemon.",
        "Connect again: another daemon may have taken its place.",
      );
    // A later client can still list, follow, stop and replace; an earlier one would misread our answers.
    if (parameters.protocol < protocolVersion)
      return this.refuse(
        errorCodes.wrongProtocol,
        `This daemon speaks protocol ${protocolVersion}, but the client speaks ${parameters.protocol}.`,
        "Update the client: reload the editor's window, or use the daemon's own `gradus`.",
      );
    clearTimeout(this.timer);
    this.role = parameters.role;
    if (parameters.role === "editor")
      this.endLanguage = serveLanguage(
        this.connection,
        this.context.version,
        () => this.close(),
        (error) => this.context.log(messageOf(error)),
        this.context.sources,
      );
    return this.context.describe();
  }

  /** The answer first, then the end of the connection. */
  private refuse(code: number, message: string, action: string): ResponseError<unknown> {
    this.context.log(`a client was refused: ${message}`);
    setTimeout(() => this.close(), refusalReadWithin).unref();
    return new ResponseError(code, message, {
      action,
      version: this.context.describe().version,
      protocol: protocolVersion,
    });
  }

  private async known(answer: () => unknown): Promise<unknown> {
    if (this.role === undefined)
      return new ResponseError(ErrorCodes.ServerNotInitialized, "gradus/hello must come first", {
        action: "See docs/protocol.md.",
      });
    try {
      return await answer();
    } catch (error) {
      const response = asResponse(error);
      if (response.code === ErrorCodes.InternalError)
        this.context.log(error instanceof Error ? (error.stack ?? error.message) : String(error));
      return response;
    }
  }

  private async subscribe(value: unknown): Promise<ResultOf<typeof subscribe>> {
    const parameters = checked(subscribe.params, subscribe.method, value);
    const answer = await this.context.changes(parameters);
    this.subscription?.close();
    this.subscription = new Subscription(
      this.connection,
      this.context.changes,
      answer.cursor,
      parameters.runs,
      (error) => this.context.log(`feed: ${messageOf(error)}`),
    );
    // What did not fit into the answer, or came while it was made.
    this.subscription.grown(Number.MAX_SAFE_INTEGER);
    return answer;
  }

  private unsubscribe(): ResultOf<typeof unsubscribe> {
    this.subscription?.close();
    this.subscription = undefined;
    return {};
  }
}
