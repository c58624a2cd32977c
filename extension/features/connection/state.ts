/**
 * disconnected → starting → handshaking → ready → reconnecting (backoff) → failed (reason, what to do).
 * Knows nothing of sockets or the editor: a session is opened by a function, time is a clock.
 */
import { isBroken } from "../../../shared/daemon/request.ts";
import { UserError, messageOf } from "../../../shared/lib/errors.ts";
import { Emitter } from "./emitter.ts";

export interface Session {
  /** Called once, when the other side has gone. */
  onClosed(listener: (reason: string) => void): void;
  close(): void;
}
export type Remedy = "nodePath" | "setUp" | "restart" | "openLog" | "trust";

export type ConnectionState<S extends Session> =
  | { readonly state: "disconnected" }
  | { readonly state: "starting" }
  | { readonly state: "handshaking" }
  | { readonly state: "ready"; readonly session: S }
  | { readonly state: "reconnecting"; readonly attempt: number; readonly reason: string }
  | { readonly state: "failed"; readonly reason: string; readonly remedies: readonly Remedy[] };

export interface Clock {
  after(milliseconds: number, act: () => void): () => void;
}
interface MachineOptions<S extends Session> {
  /** Opens a session; `shaking` is called when the daemon is there and what remains is to agree. */
  readonly open: (shaking: () => void) => Promise<S>;
  readonly clock?: Clock;
  readonly random?: () => number;
}

const shortestWait = 100;
const longestWait = 5_000;
/** Tries before it stops and says so: about a minute. */
const mostTries = 15;
/** Trying again fixes none of these. */
const final: Readonly<Record<string, readonly Remedy[]>> = {
  "node-path": ["nodePath"],
  "set-up": ["setUp"],
  "not-built": ["setUp"],
  "bad-token": ["restart", "openLog"],
  "wrong-protocol": ["restart", "openLog"],
  "runtime-folder": ["openLog"],
};

const realClock: Clock = {
  after: (milliseconds, act) => {
    const timer = setTimeout(act, milliseconds);
    return () => clearTimeout(timer);
  },
};

/** What follows it is the end of a log, which has a place of its own. */
const firstLine = (text: string): string => text.split("\n", 1)[0] ?? text;

/** Milliseconds before a try: doubling, capped, with jitter so that windows do not come together. */
export const waitBefore = (attempt: number, random: () => number): number =>
  Math.min(longestWait, shortestWait * 2 ** (attempt - 1)) * (1 - 0.3 * random());

export class ConnectionMachine<S extends Session> {
  readonly changed = new Emitter<ConnectionState<S>>();
  #state: ConnectionState<S> = { state: "disconnected" };
  #cancel: () => void = () => undefined;
  /** Grows when a start or a stop makes what is under way moot. */
  #round = 0;

  constructor(private readonly options: MachineOptions<S>) {}

  get state(): ConnectionState<S> {
    return this.#state;
  }
  get session(): S | undefined {
    return this.#state.state === "ready" ? this.#state.session : undefined;
  }

  /** Connects unless it is connected or about to be. */
  async start(): Promise<void> {
    if (["starting", "handshaking", "ready"].includes(this.#state.state)) return;
    this.#cancel();
    await this.#open(0);
  }

  /** Disconnects; the daemon and its runs continue. */
  stop(): void {
    this.#round++;
    this.#cancel();
    const session = this.session;
    this.#enter({ state: "disconnected" });
    session?.close();
  }

  #enter(state: ConnectionState<S>): void {
    this.#state = state;
    this.changed.fire(state);
  }

  async #open(attempt: number): Promise<void> {
    const round = ++this.#round;
    const current = (): boolean => round === this.#round;
    if (attempt === 0) this.#enter({ state: "starting" });
    try {
      const session = await this.options.open(() => {
        if (current() && attempt === 0) this.#enter({ state: "handshaking" });
      });
      if (!current()) return session.close();
      session.onClosed((reason) => {
        if (current()) this.#retry(1, reason);
      });
      this.#enter({ state: "ready", session });
    } catch (error) {
      if (current()) this.#failed(attempt, error);
    }
  }

  #failed(attempt: number, error: unknown): void {
    const code = error instanceof UserError ? error.detail.code : undefined;
    const action =
      error instanceof UserError && error.detail.action !== undefined ? ` ${error.detail.action}` : "";
    const remedies = code === undefined ? undefined : final[code];
    // A daemon that is about to end may still greet: the socket then closes while the window introduces itself.
    if ((attempt > 0 || isBroken(error)) && attempt < mostTries && remedies === undefined)
      return this.#retry(attempt + 1, messageOf(error));
    this.#enter({
      state: "failed",
      reason: `${firstLine(messageOf(error))}${action}`,
      remedies: remedies ?? ["restart", "openLog"],
    });
  }

  #retry(attempt: number, reason: string): void {
    this.#enter({ state: "reconnecting", attempt, reason });
    const clock = this.options.clock ?? realClock;
    this.#cancel = clock.after(
      waitBefore(attempt, this.options.random ?? Math.random),
      () => void this.#open(attempt),
    );
  }
}
