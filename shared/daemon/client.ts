/**
 * A client that stays connected: disconnected → connecting → ready → reconnecting (100 ms to 5 s, with jitter) → failed.
 * The feed's cursor outlives the connection, so a reload, a sleep and a restarted daemon are one code path: connect
 * again, subscribe from the last cursor, and learn whether that was enough.
 */
import type { MessageConnection } from "vscode-jsonrpc/node";
import type { z } from "zod";
import { UserError } from "../lib/errors.ts";
import {
  changed,
  subscribe,
  type Change,
  type HelloResult,
  type InputOf,
  type ResultOf,
} from "../protocol/protocol.ts";
import type { DaemonLink } from "./handshake.ts";
import { ask } from "./request.ts";

type ClientState =
  | { readonly state: "disconnected" }
  | { readonly state: "connecting" }
  | { readonly state: "ready"; readonly hello: HelloResult; readonly mode: DaemonLink["mode"] }
  | { readonly state: "reconnecting"; readonly attempt: number; readonly reason: string }
  | { readonly state: "failed"; readonly error: UserError };

export interface FeedListener {
  changes(changes: readonly Change[]): void;
  /** What happened meanwhile is no longer known: ask for everything again. Also called at the first connection. */
  restart(): void;
}

interface ClientOptions {
  /** connectOrStart or connectExisting with its wishes. Null: there is no daemon, and none is to be started. */
  readonly connect: () => Promise<DaemonLink | null>;
  readonly onState?: (state: ClientState) => void;
  readonly random?: () => number;
}

/** Errors that trying again does not fix: the person has to act. */
const final = new Set(["bad-token", "wrong-protocol", "runtime-folder", "not-built"]);
const shortestWait = 100;
const longestWait = 5_000;
/** Tries to reconnect before it says so and stops; about a minute. */
const maximumTries = 20;

/** Milliseconds before the next try: doubling, capped, with up to 30 % of jitter so that windows do not come together. */
const backoff = (attempt: number, random: () => number = Math.random): number =>
  Math.min(longestWait, shortestWait * 2 ** Math.min(attempt, 16)) * (1 - 0.3 * random());

export class DaemonClient {
  private state: ClientState = { state: "disconnected" };
  private connection: MessageConnection | undefined;
  private link: DaemonLink | undefined;
  private listener: { readonly feed: FeedListener; readonly runs: readonly string[] | undefined } | undefined;
  private cursor: number | undefined;
  private timer: NodeJS.Timeout | undefined;
  private disposed = false;

  constructor(private readonly options: ClientOptions) {}

  get current(): ClientState {
    return this.state;
  }

  /** Connects; on failure rejects, and tries no further. */
  async start(): Promise<void> {
    await this.connect();
    if (this.state.state === "failed") throw this.state.error;
  }

  async ask<R extends { readonly method: string; readonly params: z.ZodType }>(
    request: R,
    parameters: InputOf<R>,
  ): Promise<ResultOf<R>> {
    if (this.connection === undefined)
      throw new UserError("There is no connection to the daemon.", {
        code: "not-connected",
        action: "Gradus retries automatically; `gradus daemon status` says more.",
      });
    return ask(this.connection, request, parameters);
  }

  /** A question that changes nothing, by name: waits for a connection that is being made again, and asks again. */
  async send(method: string, parameters: unknown): Promise<unknown> {
    for (;;) {
      const connection = this.connection;
      try {
        if (connection !== undefined) return await connection.sendRequest(method, parameters);
      } catch (error) {
        // A question whose connection broke is asked again; one that was answered with an error is not.
        if (this.connection === connection) throw error;
      }
      if (this.state.state === "failed") throw this.state.error;
      if (this.disposed)
        throw new UserError("The connection to the daemon was closed.", { code: "not-connected" });
      await new Promise((resolve) => setTimeout(resolve, shortestWait));
    }
  }

  /** Follows the feed, from now on and across reconnections. One listener; `runs` narrows it. */
  async follow(feed: FeedListener, runs?: readonly string[]): Promise<void> {
    this.listener = { feed, runs };
    if (this.connection !== undefined) await this.subscribe(this.connection);
  }

  dispose(): void {
    this.disposed = true;
    clearTimeout(this.timer);
    this.connection?.dispose();
    this.link?.close();
    this.connection = undefined;
    this.enter({ state: "disconnected" });
  }

  private enter(state: ClientState): void {
    this.state = state;
    this.options.onState?.(state);
  }

  private async connect(attempt = 0): Promise<void> {
    if (attempt === 0) this.enter({ state: "connecting" });
    try {
      const link = await this.options.connect();
      if (link === null)
        throw new UserError("No daemon serves this store.", {
          code: "no-daemon",
          action: "Start one: gradus run, or the editor's command.",
        });
      if (this.disposed) return link.close();
      this.adopt(link);
      if (this.listener !== undefined && this.connection !== undefined) await this.subscribe(this.connection);
      this.enter({ state: "ready", hello: link.hello, mode: link.mode });
    } catch (error) {
      this.retry(error, attempt);
    }
  }

  private adopt(link: DaemonLink): void {
    const connection = link.connection();
    this.link = link;
    this.connection = connection;
    connection.onNotification(
      changed.method,
      (batch: { cursor: number; changes: readonly Change[]; restart?: boolean }) => this.receive(batch),
    );
    const lost = (): void => {
      if (this.connection !== connection) return;
      this.connection = undefined;
      // Questions under way are rejected, else they would wait for ever.
      connection.dispose();
      if (!this.disposed) this.retry(new UserError("The daemon closed the connection."), 0);
    };
    connection.onClose(lost);
    connection.onError(lost);
  }

  private retry(error: unknown, attempt: number): void {
    const reason =
      error instanceof UserError
        ? error
        : new UserError(error instanceof Error ? error.message : String(error), { cause: error });
    const starting = this.state.state === "connecting";
    if (
      starting ||
      attempt >= maximumTries ||
      (reason.detail.code !== undefined && final.has(reason.detail.code))
    )
      return this.enter({ state: "failed", error: reason });
    this.enter({ state: "reconnecting", attempt, reason: reason.message });
    this.timer = setTimeout(() => void this.connect(attempt + 1), backoff(attempt, this.options.random));
  }

  private async subscribe(connection: MessageConnection): Promise<void> {
    const listener = this.listener;
    if (listener === undefined) return;
    const answer = await ask(connection, subscribe, {
      ...(this.cursor === undefined ? {} : { since: this.cursor }),
      ...(listener.runs === undefined ? {} : { runs: [...listener.runs] }),
    });
    const first = this.cursor === undefined;
    this.cursor = answer.cursor;
    if (first || answer.restart) listener.feed.restart();
    else if (answer.changes.length > 0) listener.feed.changes(answer.changes);
  }

  private receive(batch: {
    readonly cursor: number;
    readonly changes: readonly Change[];
    readonly restart?: boolean;
  }): void {
    if (this.cursor !== undefined && batch.cursor <= this.cursor) return;
    this.cursor = batch.cursor;
    if (batch.restart === true) this.listener?.feed.restart();
    else this.listener?.feed.changes(batch.changes);
  }
}
