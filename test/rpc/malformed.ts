/** Messages and frames that are none, sent to a real daemon over its own local socket, and another client that goes on asking. */
import { once } from "node:events";
import { readFileSync } from "node:fs";
import { createConnection, type Socket } from "node:net";
import { setTimeout as wait } from "node:timers/promises";
import type { MessageConnection } from "vscode-jsonrpc/node";
import type { Discovery } from "../../shared/daemon/discovery.ts";
import { ask } from "../../shared/daemon/request.ts";
import { requests, runsList } from "../../shared/protocol/protocol.ts";

/** Repeatable numbers: 0 to below `below`. */
export function numbers(seed: number): (below: number) => number {
  let state = seed >>> 0;
  return (below) => {
    state = (Math.imul(state, 1664525) + 1013904223) >>> 0;
    return Math.floor((state / 2 ** 32) * below);
  };
}
type Pick = (below: number) => number;
const oneOf = <Value>(values: readonly Value[], pick: Pick): Value => values[pick(values.length)]!;

export const framed = (body: string | Buffer): Buffer =>
  Buffer.concat([Buffer.from(`Content-Length: ${Buffer.byteLength(body)}\r\n\r\n`), Buffer.from(body)]);

const methods = [
  ...Object.values(requests).map(({ method }) => method),
  "initialize",
  "textDocument/didOpen",
  "textDocument/hover",
  "",
  "__proto__",
  "toString",
];
const runs = [
  "../../../etc",
  "/etc",
  "",
  "%2e",
  "'; DROP TABLE run; --",
  "x".repeat(3000),
  "__proto__",
  "\ud800",
];
const values: readonly unknown[] = [
  null,
  true,
  -1,
  1e308,
  "",
  "\u0000",
  [],
  {},
  [[[[]]]],
  { __proto__: 1, constructor: { prototype: 1 } },
  "\udc00\ud800",
  "é".repeat(500),
];
/** Those that would end the daemon, or start something, if they were understood. */
const harmless = methods.filter((method) => !/shutdown|runs\/start|hello/.test(method));

/** A message that is JSON, and not what the daemon wants. */
export function junkMessage(pick: Pick): Buffer {
  const parameters = (): unknown =>
    pick(3) === 0
      ? oneOf(values, pick)
      : {
          run: oneOf(runs, pick),
          limit: oneOf(values, pick),
          step: oneOf(values, pick),
          action: "x",
          uri: oneOf(values, pick),
        };
  const id = oneOf<unknown>([1, "a", null, -1, 1.5, {}, [], true, undefined, "x".repeat(200)], pick);
  const shapes: readonly (() => unknown)[] = [
    () => ({ jsonrpc: "2.0", id, method: oneOf(harmless, pick), params: parameters() }),
    () => ({ jsonrpc: "1.0", id: pick(1e9), method: oneOf(harmless, pick), params: parameters() }),
    () => ({ jsonrpc: "2.0", method: oneOf(harmless, pick), params: parameters() }),
    () => ({ jsonrpc: "2.0", id, result: parameters() }),
    () => ({ jsonrpc: "2.0", id, error: oneOf(values, pick) }),
    () => ({ id, method: oneOf(values, pick) }),
    () => [{ jsonrpc: "2.0", id: 1, method: "gradus/runs/list" }],
    () => oneOf(values, pick),
  ];
  return framed(JSON.stringify(oneOf(shapes, pick)()) ?? "null");
}

const kinds: Readonly<Record<string, (pick: Pick) => Buffer>> = {
  "a length too long": (pick) => Buffer.from(`Content-Length: ${100 + pick(900_000)}\r\n\r\n{}`),
  "a length too short": () => Buffer.from('Content-Length: 5\r\n\r\n{"jsonrpc":"2.0","id":1}'),
  "a negative length": (pick) => Buffer.from(`Content-Length: -${pick(1e6)}\r\n\r\n{}`),
  "a huge length": (pick) => Buffer.from(`Content-Length: ${2 ** (30 + pick(20))}\r\n\r\n{}`),
  "a length beyond numbers": () => Buffer.from(`Content-Length: ${"9".repeat(400)}\r\n\r\n{}`),
  "a length that is no number": (pick) =>
    Buffer.from(`Content-Length: ${oneOf(["abc", "0x10", "", "1e3", "NaN", "1 2", "１２"], pick)}\r\n\r\n{}`),
  "no length": () => Buffer.from("Content-Type: x\r\n\r\n{}"),
  "a length of 0": () => Buffer.from("Content-Length: 0\r\n\r\n"),
  binary: (pick) => Buffer.from(Array.from({ length: 1 + pick(3000) }, () => pick(256))),
  HTTP: () => Buffer.from("POST / HTTP/1.1\r\nHost: x\r\nContent-Length: 2\r\n\r\n{}GET / HTTP/1.1\r\n\r\n"),
  "bytes that are no UTF-8": () => framed(Buffer.from([0x7b, 0x22, 0xff, 0xfe, 0xc0, 0x80, 0x22, 0x7d])),
  nesting: (pick) => framed("[".repeat(1 + pick(20_000))),
  "a cancellation of nothing": () => framed('{"jsonrpc":"2.0","method":"$/cancelRequest","params":{}}'),
  "a batch": () => framed('[{"jsonrpc":"2.0","id":1,"method":"gradus/runs/list"}]'),
  "UTF-16": () => framed(Buffer.from('{"jsonrpc":"2.0","id":1,"method":"gradus/runs/list"}', "utf16le")),
  "a header without an end": (pick) => Buffer.from(`X: ${"y".repeat(pick(100_000))}`),
  "half a message": (pick) => framed(JSON.stringify("z".repeat(2000 + pick(50_000)))).subarray(0, 1500),
};
export const frameKinds = Object.keys(kinds);

const helloOf = ({ token }: Discovery, more: object = {}): Buffer =>
  framed(
    JSON.stringify({
      jsonrpc: "2.0",
      id: 0,
      method: "gradus/hello",
      params: { token, protocol: 1, version: "0.1.0", role: "command", pid: process.pid, ...more },
    }),
  );

/** Unlike `once` of node:events, not rejected by an error: it closes the socket, too. */
const event = (socket: Socket, name: string): Promise<void> =>
  new Promise((resolve) => void socket.once(name, () => resolve()));
export const closing = (socket: Socket): Promise<void> =>
  socket.closed ? Promise.resolve() : event(socket, "close");

async function opened(path: string): Promise<Socket> {
  const socket = createConnection(path);
  socket.on("error", () => socket.destroy());
  await once(socket, "connect");
  return socket;
}

/** Whatever is answered is read and dropped. */
async function sendAndLeave(path: string, bytes: readonly Buffer[]): Promise<void> {
  const socket = await opened(path);
  socket.resume();
  const closed = closing(socket);
  for (const piece of bytes) socket.write(piece);
  socket.end();
  await Promise.race([closed, wait(15_000, undefined, { ref: false })]);
  socket.destroy();
}

/** One connection that says hello, sends many junk messages and reads the answers. */
async function sendJunk(discovery: Discovery, pick: Pick, count: number): Promise<void> {
  const socket = await opened(discovery.socketPath);
  socket.resume();
  socket.write(helloOf(discovery, { role: oneOf(["command", "editor"], pick) }));
  for (let sent = 0; sent < count && !socket.destroyed; sent++)
    if (!socket.write(junkMessage(pick))) await Promise.race([event(socket, "drain"), closing(socket)]);
  const closed = closing(socket);
  socket.end();
  await Promise.race([closed, wait(15_000, undefined, { ref: false })]);
  socket.destroy();
}

const wrongTokens: readonly unknown[] = ["", "0".repeat(64), 7, null, "Ω", {}];

/** 60 % junk messages, 30 % malformed frames (most of them after hello), 10 % wrong hellos and questions before hello. */
export async function assail(
  discovery: Discovery,
  count: number,
  seed: number,
  done: (sent: number) => void = () => undefined,
): Promise<void> {
  const pick = numbers(seed);
  const together = 8;
  for (let sent = 0; sent < count;) {
    const works = Array.from({ length: together }, (_, lane): [number, () => Promise<void>] => {
      if (lane < 1) return [120, () => sendJunk(discovery, pick, 120)];
      const stranger = pick(10) < 3;
      const bytes =
        stranger && pick(2) === 0
          ? [helloOf(discovery, { token: oneOf(wrongTokens, pick) }), junkMessage(pick)]
          : [...(stranger ? [] : [helloOf(discovery)]), kinds[oneOf(frameKinds, pick)]!(pick)];
      return [1, () => sendAndLeave(discovery.socketPath, bytes)];
    });
    // Seven times as many frames as rounds of junk, so that both have their share.
    await Promise.all(
      works.map(async ([, work], lane) => {
        for (let repeat = 0; repeat < (lane < 1 ? 1 : 11); repeat++) await work();
      }),
    );
    sent += 120 + (together - 1) * 11;
    done(sent);
  }
}

/** How many answers a client gets that asks one question after the other, while `work` goes on. */
export async function answersDuring(connection: MessageConnection, work: Promise<unknown>): Promise<number> {
  const state = { over: false };
  const finished = work.finally(() => (state.over = true));
  let answers = 0;
  for (; !state.over; answers++) await ask(connection, runsList, {});
  await finished;
  return answers;
}

/** Resident memory of a process in MB; Linux only. */
export function residentMb(pid: number): number {
  const found = /^VmRSS:\s+(\d+) kB/m.exec(readFileSync(`/proc/${pid}/status`, "utf8"));
  return Number(found?.[1] ?? NaN) / 1024;
}

export { helloOf, opened };
