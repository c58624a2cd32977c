/** A config's reward as a server on this machine, in the protocol in which OpenRLHF asks a remote reward model. */
import { timingSafeEqual } from "node:crypto";
import { createServer, type IncomingMessage, type Server, type ServerResponse } from "node:http";
import { messageOf, UserError } from "../../../shared/lib/errors.ts";
import type { AnswerScorer, ScoredAnswer, Answer } from "../rewardChecks/answers.ts";
import { answersOf, replyOf, requestOf, termReply } from "./requests.ts";

const path = "/get_reward";
const mostBytes = 64 * 1024 * 1024;
/** Answers that are scored in one call. */
const mostAnswers = 1024;

export interface RewardServerOptions {
  /** 0: any that is free. */
  readonly port: number;
  /** That requests must send as `Authorization: Bearer`; undefined: none. */
  readonly token?: string;
  /** Called with what a request was refused for. */
  readonly refused?: (message: string) => void;
}

export interface RewardServer {
  readonly url: string;
  close(): Promise<void>;
}

interface Waiting {
  readonly answers: readonly Answer[];
  readonly done: (scored: readonly ScoredAnswer[]) => void;
  readonly failed: (error: unknown) => void;
}

/** Scores what has come together: OpenRLHF asks for one rollout a request. */
class Scoring {
  private readonly waiting: Waiting[] = [];
  private busy = false;

  constructor(private readonly scorer: AnswerScorer) {}

  score(answers: readonly Answer[]): Promise<readonly ScoredAnswer[]> {
    return new Promise((done, failed) => {
      this.waiting.push({ answers, done, failed });
      void this.drain();
    });
  }

  private async drain(): Promise<void> {
    if (this.busy) return;
    this.busy = true;
    while (this.waiting.length > 0) {
      const taken: Waiting[] = [];
      let size = 0;
      while (
        this.waiting.length > 0 &&
        (taken.length === 0 || size + this.waiting[0]!.answers.length <= mostAnswers)
      ) {
        const next = this.waiting.shift()!;
        size += next.answers.length;
        taken.push(next);
      }
      await this.scoreThose(taken);
    }
    this.busy = false;
  }

  private async scoreThose(taken: readonly Waiting[]): Promise<void> {
    try {
      const scored = await this.scorer.score(taken.flatMap(({ answers }) => answers));
      const [skipped] = this.scorer.skipped;
      if (skipped !== undefined)
        throw new UserError(`the reward term ${skipped.term} cannot be served: ${skipped.reason}`, {
          code: "reward-serve-model",
          action: "Remove the term from the config that is served.",
        });
      let at = 0;
      for (const { answers, done } of taken) done(scored.slice(at, (at += answers.length)));
    } catch (error) {
      for (const { failed } of taken) failed(error);
    }
  }
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

function isAllowed({ headers }: IncomingMessage, token: string | undefined): boolean {
  if (token === undefined) return true;
  const [sent, wanted] = [Buffer.from(headers.authorization ?? ""), Buffer.from(`Bearer ${token}`)];
  return sent.length === wanted.length && timingSafeEqual(sent, wanted);
}

/** Why a request is not looked at; undefined: it is. */
function refusal(request: IncomingMessage, token: string | undefined): readonly [number, string] | undefined {
  if (!isLocal(request.headers.host) || request.headers.origin !== undefined)
    return [403, "only programs on this machine are served"];
  if (!isAllowed(request, token)) return [401, "the token is missing or wrong"];
  if (request.method !== "POST") return [405, `ask with POST ${path}`];
  if (request.url !== path && request.url !== "/") return [404, `there is only ${path}`];
  return undefined;
}

async function answer(
  request: IncomingMessage,
  scoring: Scoring,
  { body }: AnswerScorer,
  name: string,
): Promise<readonly [number, object]> {
  const text = await bodyOf(request);
  if (text === undefined) return [413, { error: `a request may have ${mostBytes} bytes` }];
  const asked = requestOf(text);
  if (typeof asked === "string") return [400, { error: asked }];
  const answers = answersOf(asked, body, name);
  if (typeof answers === "string") return [400, { error: answers }];
  const scored = await scoring.score(answers);
  const reply = asked.term === undefined ? replyOf(scored) : termReply(scored, asked.term);
  // An answer whose reward failed is no reward of 0: OpenRLHF asks again, and then gives up.
  return typeof reply === "string" ? [500, { error: reply }] : [200, reply];
}

function listening(server: Server, port: number): Promise<number> {
  return new Promise((done, failed) => {
    server.once("error", (error) => {
      const used = "code" in error && error.code === "EADDRINUSE";
      failed(
        new UserError(used ? `port ${port} is in use` : `the server cannot listen: ${messageOf(error)}`, {
          code: "reward-serve-port",
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

/** @param scorer prepared; it is the caller's to close. @throws UserError where the port cannot be had */
export async function serveReward(
  scorer: AnswerScorer,
  { port, token, refused }: RewardServerOptions,
): Promise<RewardServer> {
  const scoring = new Scoring(scorer);
  let requests = 0;
  const server = createServer((request, response) => {
    const respond = async (): Promise<void> => {
      if (request.method === "GET" && request.url === "/health" && isLocal(request.headers.host))
        return send(response, 200, { status: "ok" });
      const no = refusal(request, token);
      const [status, body] =
        no === undefined
          ? await answer(request, scoring, scorer, `request ${++requests}`)
          : ([no[0], { error: no[1] }] as const);
      if ("error" in body) refused?.(String(body.error));
      send(response, status, body);
    };
    respond().catch((error: unknown) => {
      refused?.(messageOf(error));
      if (!response.headersSent) send(response, 500, { error: messageOf(error) });
    });
  });
  const own = await listening(server, port);
  return {
    url: `http://127.0.0.1:${own}${path}`,
    close: () =>
      new Promise((done) => {
        server.close(() => done());
        server.closeAllConnections();
      }),
  };
}
