import assert from "node:assert/strict";
import { appendFileSync, existsSync, statSync } from "node:fs";
import type { Socket } from "node:net";
import { join } from "node:path";
import { after, before, test } from "node:test";
import type { MessageConnection } from "vscode-jsonrpc/node";
import { ask } from "../../shared/daemon/request.ts";
import { daemonStatus } from "../../shared/protocol/protocol.ts";
import { Sandbox, until } from "./daemon.ts";
import { answersDuring, assail, closing, framed, helloOf, opened, residentMb } from "./malformed.ts";

let box: Sandbox;
let other: MessageConnection;
let pid = 0;
before(async () => {
  box = await Sandbox.make();
  other = await box.connect();
  pid = (await ask(other, daemonStatus, {})).pid;
});
after(() => box.end());

const linux = { skip: process.platform === "linux" ? false : "memory of a process is read from /proc" };
const discovery = () => {
  const found = box.discovery();
  assert.ok(found !== null);
  return found;
};
const alone = () =>
  until(
    async () => ((await ask(other, daemonStatus, {})).clients === 1 ? true : null),
    "the others to be gone",
  );

/** Everything that is answered until the connection closes. */
async function untilClosed(socket: Socket): Promise<string> {
  let said = "";
  socket.on("data", (chunk: Buffer) => (said += chunk.toString()));
  await closing(socket);
  return said;
}

test(
  "thousands of malformed messages and frames cost neither memory nor other clients' answers nor the log",
  linux,
  async () => {
    await assail(discovery(), 800, 7);
    const [before, logged] = [residentMb(pid), box.log().length];
    const answers = await answersDuring(other, assail(discovery(), 2000, 8));
    assert.equal((await ask(other, daemonStatus, {})).pid, pid);
    assert.ok(residentMb(pid) - before < 80, `${before} → ${residentMb(pid)} MB`);
    // One that had to wait for the others' messages would get one at the end. How long each takes: bench/fuzz.ts.
    assert.ok(answers > 20, `${answers} answers`);
    assert.ok(box.log().length - logged < 1_500_000, `${box.log().length - logged} characters of log`);
    await alone();
  },
);

test("headers and messages have bounds, narrow ones before hello, and who passes them gets the reason", async () => {
  const { socketPath } = discovery();
  const hello = helloOf(discovery());
  const bounds: readonly [string, readonly Buffer[], RegExp][] = [
    [
      "a message before hello",
      [Buffer.from(`Content-Length: ${1024 * 1024 + 1}\r\n\r\n`)],
      /was announced, but at most 1048576/,
    ],
    [
      "a message after hello",
      [hello, Buffer.from(`Content-Length: ${2 ** 40}\r\n\r\n`)],
      /was announced, but at most 268435456/,
    ],
    ["a header", [Buffer.alloc(70_000, "x")], /header is longer than 65536/],
    ["a header after hello", [hello, Buffer.alloc(70_000, "x")], /header is longer than 65536/],
    ["a length", [Buffer.from("Content-Length: -5\r\n\r\n")], /must be a number/],
    ["no JSON", [framed("{")], /is not JSON/],
  ];
  for (const [what, bytes, reason] of bounds) {
    const socket = await opened(socketPath);
    const said = untilClosed(socket);
    for (const piece of bytes) socket.write(piece);
    assert.match(await said, reason, what);
    assert.ok(reason.test(box.log()), `${what} is logged`);
  }
  const socket = await opened(socketPath);
  let answers = "";
  socket.on("data", (chunk: Buffer) => (answers += chunk.toString()));
  socket.write(helloOf(discovery()));
  // In pieces of all sizes, and larger than a stranger's may be.
  const large = framed(JSON.stringify({ jsonrpc: "2.0", id: 9, method: "none", params: ["y".repeat(3e6)] }));
  for (let at = 0, size = 1; at < large.length; at += size, size = Math.min(size * 2, 100_000))
    socket.write(large.subarray(at, at + size));
  await until(async () => (answers.includes('"id":9') ? true : null), "the answer to a large message");
  socket.destroy();
  await alone();
});

test("a connection that ends inside a message leaves nothing", linux, async () => {
  const whole = Buffer.alloc(1024 * 1024, "z");
  const part = async (): Promise<void> => {
    const socket = await opened(discovery().socketPath);
    socket.write(helloOf(discovery()));
    socket.write(`Content-Length: ${2 * whole.length}\r\n\r\n`);
    await new Promise((sent) => socket.write(whole, sent));
    socket.destroy();
  };
  const many = async (): Promise<void> => {
    for (let round = 0; round < 80; round++) await part();
    await alone();
  };
  // As many before: the allocator keeps what the first ones took (60 MB under Node 26), and takes no more for further ones.
  await many();
  const before = residentMb(pid);
  await many();
  await until(async () => (residentMb(pid) - before < 40 ? true : null), "the memory to be given back");
});

test("a client that asks and never reads holds up no other", async () => {
  const run = await box.start(other, 150, 0);
  await box.reach(other, run, ({ status }) => status === "finished");
  const socket = await opened(discovery().socketPath);
  socket.pause();
  socket.write(helloOf(discovery()));
  const question = (id: number): Buffer =>
    framed(
      JSON.stringify({
        jsonrpc: "2.0",
        id,
        method: "gradus/rollouts",
        params: { run, limit: 1000, tokens: true },
      }),
    );
  const flood = Buffer.concat(Array.from({ length: 3000 }, (_, id) => question(id + 1)));
  socket.write(flood);
  // All of these are answered while that one still reads nothing.
  for (let count = 0; count < 60; count++) await ask(other, daemonStatus, {});
  const memory = process.platform === "linux" ? residentMb(pid) : 0;
  assert.ok(memory < 700, `${memory} MB`);
  // It loses nothing when it reads again.
  let [bytes, last] = [0, ""];
  socket.on("data", (chunk: Buffer) => {
    bytes += chunk.length;
    last = (last + chunk.toString("latin1")).slice(-4_000_000);
  });
  socket.resume();
  await until(async () => (last.includes('"id":60,') ? true : null), "a later answer");
  assert.ok(bytes > 0);
  socket.destroy();
  await alone();
});

test("daemon.log is cut while the daemon runs, and its end is still reported", async () => {
  const log = join(box.store, "daemon.log");
  appendFileSync(log, `${"filler ".repeat(100)}\n`.repeat(7000));
  await until(async () => (statSync(log).size < 1e6 ? true : null), "the log to be cut");
  assert.ok(existsSync(`${log}.1`) && statSync(`${log}.1`).size > 4e6);
  const socket = await opened(discovery().socketPath);
  socket.write("Content-Length: none\r\n\r\n");
  await until(
    async () => (box.log().includes("Content-Length is none") ? true : null),
    "what is logged then",
  );
  assert.ok(statSync(log).size < 1e6);
});
