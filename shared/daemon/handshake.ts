/**
 * A socket to the daemon and its `gradus/hello`. The handshake reads and writes its one message itself and leaves the
 * socket untouched after it, so that the same connection can then be given to a language client or to our own.
 */
import { createConnection as connectSocket, type Socket } from "node:net";
import {
  SocketMessageReader,
  SocketMessageWriter,
  createMessageConnection,
  type MessageConnection,
  type MessageReader,
  type MessageWriter,
} from "vscode-jsonrpc/node";
import { z } from "zod";
import { UserError } from "../lib/errors.ts";
import { errorCodes, hello, protocolVersion, type HelloResult, type Role } from "../protocol/protocol.ts";
import type { Discovery } from "./discovery.ts";

const helloTimeout = 10_000;
const maximumAnswer = 1024 * 1024;

/** A daemon that answered our hello. */
export interface DaemonLink {
  readonly hello: HelloResult;
  readonly socket: Socket;
  /**
   * `full`: everything. `limited`: an older daemon with live runs keeps serving them; list, show, follow and stop
   * only, and language features come from a `gradus lsp --stdio` of the client's own.
   */
  readonly mode: "full" | "limited";
  /** For a language client: LSP and `gradus/*` over the same socket. Take these or `connection()`, once. */
  transports(): { readonly reader: MessageReader; readonly writer: MessageWriter };
  /** For `gradus/*` alone; already listening. */
  connection(): MessageConnection;
  close(): void;
}

interface HelloWish {
  readonly role: Role;
  readonly version: string;
  readonly protocol?: number;
}

const answerSchema = z.object({
  result: z
    .object({
      instance: z.string(),
      pid: z.number(),
      version: z.string(),
      protocol: z.number(),
      store: z.string(),
      node: z.string(),
      live: z.number(),
      capabilities: z.array(z.string()),
    })
    .optional(),
  error: z
    .object({
      code: z.number(),
      message: z.string(),
      data: z.object({ action: z.string().optional() }).loose().optional(),
    })
    .optional(),
});

/** Connects and says hello. Rejects with a UserError when refused, with the socket's error when nothing listens. */
export async function shakeHands(discovery: Discovery, wish: HelloWish): Promise<DaemonLink> {
  const socket = await opened(discovery.socketPath);
  try {
    const body = {
      jsonrpc: "2.0",
      id: 0,
      method: hello.method,
      params: {
        token: discovery.token,
        protocol: wish.protocol ?? protocolVersion,
        version: wish.version,
        role: wish.role,
        pid: process.pid,
      },
    };
    const text = JSON.stringify(body);
    socket.write(`Content-Length: ${Buffer.byteLength(text)}\r\n\r\n${text}`);
    const answer = answerSchema.parse(JSON.parse(await firstMessage(socket)));
    if (answer.result === undefined) throw refusal(answer.error);
    return linkOver(
      socket,
      answer.result,
      answer.result.protocol < (wish.protocol ?? protocolVersion) ? "limited" : "full",
    );
  } catch (error) {
    socket.destroy();
    throw error;
  }
}

function refusal(error: z.infer<typeof answerSchema>["error"]): UserError {
  const code =
    error?.code === errorCodes.badToken
      ? "bad-token"
      : error?.code === errorCodes.wrongProtocol
        ? "wrong-protocol"
        : "hello-refused";
  return new UserError(error?.message ?? "The daemon did not answer hello.", {
    code,
    ...(error?.data?.action === undefined ? {} : { action: error.data.action }),
  });
}

export function linkOver(socket: Socket, answer: HelloResult, mode: DaemonLink["mode"]): DaemonLink {
  const transports = (): { reader: MessageReader; writer: MessageWriter } => {
    // The handshake paused the socket, and a paused stream does not flow again by itself when somebody listens.
    const flow = (event: string): void => {
      if (event !== "data") return;
      socket.off("newListener", flow);
      process.nextTick(() => socket.resume());
    };
    socket.on("newListener", flow);
    const reader = new SocketMessageReader(socket);
    // Its timer for a message that never gets whole would hold the reader, and what it has read, for ever.
    reader.partialMessageTimeout = 0;
    return { reader, writer: new SocketMessageWriter(socket) };
  };
  return {
    hello: answer,
    socket,
    mode,
    transports,
    connection: () => {
      const { reader, writer } = transports();
      const connection = createMessageConnection(reader, writer);
      connection.listen();
      return connection;
    },
    close: () => socket.destroy(),
  };
}

function opened(path: string): Promise<Socket> {
  return new Promise((resolve, reject) => {
    const socket = connectSocket(path);
    socket.once("error", reject);
    socket.once("connect", () => {
      socket.off("error", reject);
      // A later failure shows as `close`; without a listener it would end the process.
      socket.on("error", () => socket.destroy());
      resolve(socket);
    });
  });
}

/** The body of the first framed message; what follows it is put back. */
function firstMessage(socket: Socket): Promise<string> {
  return new Promise((resolve, reject) => {
    let bytes = Buffer.alloc(0);
    const finish = (act: () => void): void => {
      clearTimeout(timer);
      socket.off("data", onData).off("close", onClose);
      act();
    };
    const fail = (message: string): void =>
      finish(() =>
        reject(
          new UserError(message, {
            code: "hello-failed",
            action: "See `gradus daemon logs`; `gradus daemon stop` stops a daemon that hangs.",
          }),
        ),
      );
    const onClose = (): void => fail("The daemon closed the connection before answering hello.");
    const onData = (chunk: Buffer): void => {
      bytes = Buffer.concat([bytes, chunk]);
      const head = bytes.indexOf("\r\n\r\n");
      const length =
        head === -1
          ? undefined
          : Number(/Content-Length: *(\d+)/i.exec(bytes.toString("latin1", 0, head))?.[1]);
      if (Number.isNaN(length) || bytes.length > maximumAnswer)
        return fail("Something other than a Gradus daemon answered on its socket.");
      if (length === undefined || bytes.length < head + 4 + length) return;
      finish(() => {
        socket.pause();
        // A paused socket stays paused when it is read again: whoever takes it over starts it by listening.
        socket.on("newListener", (event) => {
          if (event === "data") process.nextTick(() => socket.resume());
        });
        const rest = bytes.subarray(head + 4 + length);
        if (rest.length > 0) socket.unshift(rest);
        resolve(bytes.toString("utf8", head + 4, head + 4 + length));
      });
    };
    const timer = setTimeout(
      () => fail(`The daemon did not answer hello within ${helloTimeout / 1000} s.`),
      helloTimeout,
    );
    socket.on("data", onData).on("close", onClose);
  });
}
