/** One session of an OpenEnv server: JSON messages over a WebSocket, one answer to each. */
import type { WebSocket } from "ws";
import { z } from "zod";
import type { Json, JsonObject } from "../../../shared/lib/json.ts";

/** As `openenv.core.env_server.types` has them (package openenv 0.10). */
export type OpenEnvMessage =
  | { readonly type: "reset"; readonly data: JsonObject }
  | { readonly type: "step"; readonly data: JsonObject }
  | { readonly type: "state" };

const answer = z.discriminatedUnion("type", [
  z.object({ type: z.literal("observation"), data: z.record(z.string(), z.json()) }),
  z.object({ type: z.literal("state"), data: z.record(z.string(), z.json()) }),
  z.object({
    type: z.literal("error"),
    data: z.object({ message: z.string().default("no message"), code: z.string().optional() }),
  }),
]);
type Answer = z.output<typeof answer>;

/** MiB of a message: screens of pages are large. */
const largest = 100;

/** `http://host:8000` as `ws://host:8000/ws`. */
export function socketAddress(url: string): string {
  const address = new URL(url.replace(/\/+$/, ""));
  address.protocol = address.protocol.replace("http", "ws");
  if (!address.pathname.endsWith("/ws")) address.pathname = `${address.pathname.replace(/\/$/, "")}/ws`;
  return address.href;
}

interface Waiting {
  readonly take: (answer: Answer) => void;
  readonly fail: (error: Error) => void;
}

export class OpenEnvSocket {
  private waiting: Waiting | undefined;
  private ended: Error | undefined;

  private constructor(
    private readonly socket: WebSocket,
    private readonly seconds: number,
  ) {
    socket.on("message", (data: Buffer) => this.hear(data.toString()));
    socket.on("close", (code) => this.fail(new Error(`the server closed the connection (${code})`)));
    socket.on("error", (error) => this.fail(error));
  }

  /** @param seconds of connecting, and of each answer @throws Error where the server is not there */
  static async connect(
    url: string,
    seconds: number,
    headers: Readonly<Record<string, string>>,
  ): Promise<OpenEnvSocket> {
    // Loaded here: every command reads this file with the methods, and few open a socket.
    const ws = await import("ws");
    const socket = new ws.WebSocket(socketAddress(url), {
      headers: { ...headers },
      handshakeTimeout: seconds * 1000,
      maxPayload: largest * 2 ** 20,
    });
    await new Promise<void>((resolve, reject) => {
      socket.once("open", () => resolve());
      socket.once("error", reject);
    });
    return new OpenEnvSocket(socket, seconds);
  }

  get isOpen(): boolean {
    return this.ended === undefined;
  }

  /** @throws Error with what the server says, or that it gave no answer; after the latter the session is over */
  async ask(message: OpenEnvMessage, signal?: AbortSignal): Promise<Readonly<Record<string, Json>>> {
    if (this.ended !== undefined) throw this.ended;
    const given = await new Promise<Answer>((resolve, reject) => {
      const end = (error: Error): void => {
        this.fail(error);
        this.socket.terminate();
      };
      const timer = setTimeout(() => end(new Error(`timeout after ${this.seconds} s`)), this.seconds * 1000);
      const aborted = (): void => end(new Error("aborted"));
      signal?.addEventListener("abort", aborted);
      const done = (): void => {
        clearTimeout(timer);
        signal?.removeEventListener("abort", aborted);
        this.waiting = undefined;
      };
      this.waiting = {
        take: (one) => (done(), resolve(one)),
        fail: (error) => (done(), reject(error)),
      };
      this.socket.send(JSON.stringify(message));
    });
    if (given.type !== "error") return given.data;
    const { code, message: said } = given.data;
    throw new Error(
      `the server refused \`${message.type}\`: ${said}${code === undefined ? "" : ` (${code})`}`,
    );
  }

  async close(): Promise<void> {
    if (this.socket.readyState === this.socket.CLOSED) return;
    const closed = new Promise<void>((resolve) => this.socket.once("close", () => resolve()));
    if (this.socket.readyState === this.socket.OPEN) this.socket.send(JSON.stringify({ type: "close" }));
    this.socket.close();
    // A server that does not answer the handshake holds nobody up.
    const timer = setTimeout(() => this.socket.terminate(), 1000);
    await closed;
    clearTimeout(timer);
  }

  private hear(text: string): void {
    try {
      this.waiting?.take(answer.parse(JSON.parse(text)));
    } catch {
      this.fail(new Error(`the server's answer is none of OpenEnv's: ${text.slice(0, 120)}`));
      this.socket.terminate();
    }
  }

  private fail(error: Error): void {
    this.ended ??= error;
    this.waiting?.fail(error);
  }
}
