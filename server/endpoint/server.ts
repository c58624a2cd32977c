/** The policy at an HTTP address of this machine, as OpenAI's and Anthropic's clients ask for a model. */
import { timingSafeEqual } from "node:crypto";
import { createServer, type IncomingMessage, type Server, type ServerResponse } from "node:http";
import type { AddressInfo } from "node:net";
import { isFromHere, urlOf } from "../lib/http/loopbackServer.ts";
import type { TrainablePolicy } from "../engine/index.ts";
import { UserError, messageOf } from "../../shared/lib/errors.ts";
import type { JsonObject } from "../../shared/lib/json.ts";
import { Answers, type Caller } from "./answers.ts";
import { Load, MOST_DEFAULTS, MOST_NAME, tooLarge, usualBounds, type Bounds, type Share } from "./bounds.ts";
import { countTokens, messages } from "./anthropic.ts";
import { Refusal, type Api } from "./errors.ts";
import { chat } from "./openAiChat.ts";
import { completions } from "./openAiCompletions.ts";
import { Reply, refuseUnread } from "./reply.ts";
import { jsonBody } from "./requestBody.ts";
import { parsed } from "./sampling.ts";
import { rulesSchema, Sessions, type Captured } from "./sessions.ts";
import { Writer } from "./writer.ts";

/** Of this machine alone: nothing else can reach it. */
const HOST = "127.0.0.1";

export interface EndpointOptions {
  readonly policy: TrainablePolicy;
  /** What the model is called; requests may also say `policy`. */
  readonly model: string;
  readonly token: string;
  /** 0: any that is free. */
  readonly port: number;
  readonly seed: number;
  /** Answers that are written at once, at most. */
  readonly lanes: number;
  /** Less than usual, e.g. where it is tried. */
  readonly bounds?: Partial<Bounds>;
  /** Told of what went wrong on this side. */
  readonly report: (message: string) => void;
}
export interface Endpoint {
  /** Without a slash at its end. */
  readonly url: string;
  /** Weights for the requests that come from now on. @throws UserError where they are of another model */
  adopt(weights: Readonly<Record<string, Float32Array>>, version: number): void;
  /** Takes no more requests and writes those in flight to their ends. */
  close(): Promise<void>;
}

interface Route {
  readonly method: string;
  readonly path: string;
  readonly session: string | undefined;
  /** These weights and no newer ones. */
  readonly only: boolean;
}

/** @throws UserError where the port is taken */
export async function openEndpoint(options: EndpointOptions): Promise<Endpoint> {
  const { policy, report } = options;
  const writer = new Writer(policy, options);
  const bounds = { ...usualBounds, ...options.bounds };
  const sessions = new Sessions(bounds);
  const handler = new Handler(options, bounds, writer, sessions, new Answers(writer, sessions));
  const server = createServer((request, response) => {
    void handler.handle(request, response).catch((error: unknown) => report(messageOf(error)));
  });
  server.on("clientError", refuseUnread);
  const port = await listen(server, options.port);
  return {
    url: `http://${HOST}:${port}`,
    adopt: (weights, version) => writer.adopt(weights, version),
    close: async () => {
      const closed = new Promise((resolve) => server.close(resolve));
      server.closeIdleConnections();
      await writer.close();
      server.closeIdleConnections();
      server.closeAllConnections();
      await closed;
    },
  };
}

function listen(server: Server, port: number): Promise<number> {
  return new Promise((resolve, reject) => {
    server.once("error", (error: NodeJS.ErrnoException) =>
      reject(
        new UserError(
          error.code === "EADDRINUSE"
            ? `Port ${port} is taken.`
            : `Port ${port} cannot be opened: ${error.message}.`,
          { code: "port", action: "Choose another one, or any that is free: --port 0.", cause: error },
        ),
      ),
    );
    server.listen(port, HOST, () => {
      const { port: own } = server.address() as AddressInfo; // a TCP server's is always one
      resolve(own);
    });
  });
}

class Handler {
  private readonly secret: Buffer;
  private readonly load: Load;
  private readonly since = Math.floor(Date.now() / 1000);

  constructor(
    private readonly options: EndpointOptions,
    private readonly bounds: Bounds,
    private readonly writer: Writer,
    private readonly sessions: Sessions,
    private readonly answers: Answers,
  ) {
    this.secret = Buffer.from(options.token);
    this.load = new Load(bounds);
  }

  async handle(request: IncomingMessage, response: ServerResponse): Promise<void> {
    const reply = new Reply(response, apiOf(request), this.bounds.unread);
    let share: Share | undefined;
    const gone = new AbortController();
    response.on("close", () => gone.abort());
    try {
      this.admit(request);
      share = this.load.begin();
      const route = routeOf(request);
      await this.serve(route, request, reply, { signal: gone.signal, session: route.session, share });
    } catch (error) {
      if (gone.signal.aborted) return;
      if (!(error instanceof Refusal) && !(error instanceof UserError)) this.options.report(messageOf(error));
      reply.refuse(error);
    } finally {
      share?.end();
    }
  }

  /** @throws Refusal for a page in a browser, and without the token */
  private admit(request: IncomingMessage): void {
    if (!isFromHere(request))
      throw new Refusal(
        403,
        "not_local",
        "Only programs on this machine are served, not pages in a browser. Ask 127.0.0.1 without the header Origin.",
      );
    const { headers } = request;
    const bearer = /^Bearer (.*)$/i.exec(headers.authorization ?? "")?.[1];
    const key = headers["x-api-key"];
    const given = Buffer.from(bearer ?? (typeof key === "string" ? key : ""));
    if (given.length === this.secret.length && timingSafeEqual(given, this.secret)) return;
    throw new Refusal(
      401,
      "invalid_api_key",
      "The token is missing or wrong. Send the one that `gradus serve` printed, as `Authorization: Bearer TOKEN` or `x-api-key: TOKEN`.",
    );
  }

  private async serve(route: Route, request: IncomingMessage, reply: Reply, caller: Caller): Promise<void> {
    const { answers, writer } = this;
    const what = `${route.method} ${route.path}`;
    if (what === "GET /v1/models")
      return reply.json(writer.version, { object: "list", data: [this.model()] });
    if (route.method === "GET" && route.path.startsWith("/v1/models/"))
      return reply.json(writer.version, this.model(decoded(route.path.slice("/v1/models/".length))));
    if (
      route.session !== undefined &&
      (await this.onSession(what, route.session, request, reply, caller.share))
    )
      return;
    if (route.method === "GET" && /^\/weights\/\d+$/.test(route.path)) {
      await writer.reached(Number(route.path.slice("/weights/".length)), caller.signal, route.only);
      return reply.json(writer.version, { weight_version: writer.version });
    }
    const { id } = this.model();
    const asked = (session = route.session): Promise<unknown> => this.body(request, caller.share, session);
    if (what === "POST /v1/chat/completions") return chat(answers, id, await asked(), caller, reply);
    if (what === "POST /v1/completions") return completions(answers, id, await asked(), caller, reply);
    if (what === "POST /v1/messages") return messages(answers, id, await asked(), caller, reply);
    if (what === "POST /v1/messages/count_tokens")
      return countTokens(answers, await asked(), writer.version, reply);
    throw new Refusal(
      404,
      "unknown_url",
      `There is no ${what}. Ask for /v1/models, /v1/chat/completions, /v1/completions or /v1/messages.`,
    );
  }

  /** What is asked about a session, not of the model. @returns whether it was */
  private async onSession(
    what: string,
    session: string,
    request: IncomingMessage,
    reply: Reply,
    share: Share,
  ): Promise<boolean> {
    const { sessions } = this;
    if (what === "GET /captured") this.captured(session, sessions.captured(session), reply);
    else if (what === "POST /end") this.captured(session, sessions.end(session), reply);
    else if (what === "DELETE /") reply.json(undefined, { session, forgotten: sessions.forget(session) });
    else if (what === "PUT /") {
      const rules = parsed(rulesSchema, await this.body(request, share));
      if (share.bytes > MOST_DEFAULTS) throw tooLarge("What is set of a session", MOST_DEFAULTS);
      sessions.set(session, rules, share.bytes);
      reply.json(undefined, { session });
    } else return false;
    return true;
  }

  private captured(session: string, captured: readonly Captured[] | undefined, reply: Reply): void {
    if (captured === undefined)
      throw new Refusal(
        404,
        "unknown_session",
        `No request came for the session ${session}. Send requests to /sessions/${session}/v1, or with the header x-session-id.`,
      );
    reply.json(undefined, { session, captured });
  }

  private model(name = this.options.model): { readonly id: string } {
    const { model } = this.options;
    if (name !== model && name !== "policy")
      throw new Refusal(404, "model_not_found", `There is no model ${name} here. Ask for ${model}.`, "model");
    const { version, policy } = this.writer;
    const more = {
      object: "model",
      created: this.since,
      owned_by: "gradus",
      display_name: model,
      type: "model",
    };
    return { id: model, ...more, max_model_len: policy.context, weight_version: version } as {
      readonly id: string;
    };
  }

  /** @throws Refusal for a body that is over a bound, is no JSON, or asks for another model */
  private async body(request: IncomingMessage, share: Share, session?: string): Promise<unknown> {
    const body = await jsonBody(request, share, this.bounds.body);
    if (typeof body === "object" && body !== null && "model" in body && typeof body.model === "string")
      this.model(body.model);
    return session === undefined ? body : withDefaults(body, this.sessions.defaults(session));
  }
}

/** A request's fields, and a session's where it says nothing. */
const withDefaults = (body: unknown, defaults: JsonObject): unknown =>
  typeof body === "object" && body !== null && !Array.isArray(body)
    ? { ...defaults, ...Object.fromEntries(Object.entries(body).filter(([, value]) => value !== null)) }
    : body;

/**
 * `/sessions/<name>/…` or the header `x-session-id` says to which session a request belongs.
 * @throws Refusal for an address that cannot be read
 */
function routeOf({ method = "GET", url = "/", headers }: IncomingMessage): Route {
  const asked = urlOf(url);
  if (asked === undefined) throw unreadable();
  const { pathname, searchParams } = asked;
  const [, named, rest] = /^\/sessions\/([^/]+)(\/.*)?$/.exec(pathname) ?? [];
  const header = headers["x-session-id"];
  const session =
    named === undefined ? (typeof header === "string" && header !== "" ? header : undefined) : decoded(named);
  if (session !== undefined && session.length > MOST_NAME) throw longName();
  const path = (named === undefined ? pathname : (rest ?? "/")).replace(/(.)\/+$/, "$1");
  return { method, path, session, only: searchParams.has("only") };
}

const apiOf = ({ url = "", headers }: IncomingMessage): Api =>
  /^(?:\/sessions\/[^/]+)?\/v1\/messages/.test(url) || "anthropic-version" in headers
    ? "anthropic"
    : "openai";

const unreadable = (): Refusal =>
  new Refusal(400, "invalid_url", "The request's address cannot be read. Write `%` as %25 in names.");

const longName = (): Refusal =>
  new Refusal(
    400,
    "invalid_session",
    `A session's name has ${MOST_NAME} characters at most. Choose a shorter one.`,
  );

/** @throws Refusal for a `%` that begins no escape */
function decoded(name: string): string {
  try {
    return decodeURIComponent(name);
  } catch (error) {
    if (error instanceof URIError) throw unreadable();
    throw error;
  }
}
