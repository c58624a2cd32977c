/** Everything that a client can make long, deep or many is refused by name, and what is kept stays within bounds: a real server, over sockets. */
import assert from "node:assert/strict";
import { once } from "node:events";
import { createServer, request as httpRequest } from "node:http";
import { connect, type AddressInfo, type Socket } from "node:net";
import { after, before, describe, it } from "node:test";
import { setFlagsFromString } from "node:v8";
import { runInNewContext } from "node:vm";
import { z } from "zod";
import { MOST_LEVELS, type Bounds } from "../../../server/endpoint/bounds.ts";
import { Reply } from "../../../server/endpoint/reply.ts";
import { openEndpoint, type Endpoint } from "../../../server/endpoint/server.ts";
import { openLanguageModel } from "../../../server/engine/index.ts";
import type { LanguageModel } from "../../../server/engine/policy.ts";
import { adamwChoice } from "../../../server/methods/optimizer/adamw.ts";
import { until } from "../../support/until.ts";

const token = "a-token-of-this-test";
const authorization = `Bearer ${token}`;
const size = { width: 16, layers: 1, heads: 2, kv_heads: 1, hidden: 24, context: 64, tied: true };
const KiB = 1024;

let policy: LanguageModel;
const open: Endpoint[] = [];
before(async () => {
  policy = await openLanguageModel({
    model: { base: "tiny", size },
    optimizer: adamwChoice({ lr: 1e-2 }),
    backend: "native",
    threads: 1,
    seed: 7,
  });
});
after(async () => {
  await Promise.all(open.map((endpoint) => endpoint.close()));
  policy.close();
});
async function served(bounds: Partial<Bounds> = {}): Promise<string> {
  const told: string[] = [];
  const report = (message: string): void => void told.push(message);
  const endpoint = await openEndpoint({
    policy,
    model: "tiny",
    token,
    port: 0,
    seed: 1,
    lanes: 8,
    bounds,
    report,
  });
  open.push(endpoint);
  return endpoint.url;
}

const refusal = z.object({ error: z.looseObject({ message: z.string(), code: z.string() }) });
async function refused(response: Response): Promise<{ status: number; code: string; message: string }> {
  const { error } = refusal.parse(await response.json());
  return { status: response.status, code: error.code, message: error.message };
}
const send = (url: string, body: string, method = "POST", signal?: AbortSignal): Promise<Response> =>
  fetch(url, { method, body, headers: { authorization }, ...(signal && { signal }) });
const chat = (more: object = {}): string =>
  JSON.stringify({ messages: [{ role: "user", content: "2+3?" }], max_tokens: 1, ...more });

/** What comes back over a socket on which this was written. */
async function raw(url: string, text: string): Promise<string> {
  const { hostname, port } = new URL(url);
  const socket = connect(Number(port), hostname);
  socket.end(text);
  let back = "";
  socket.setEncoding("utf8").on("data", (part: string) => (back += part));
  await once(socket, "close");
  return back;
}

describe("a request over a bound", () => {
  let url: string;
  before(async () => (url = await served({ body: 64 * KiB })));

  const completions: readonly (readonly [what: string, body: object, message: RegExp])[] = [
    ["answers", { n: 129 }, /`n`: .*<=128/],
    ["stop texts", { stop: Array.from({ length: 65 }, String) }, /`stop`/],
    ["a stop text", { stop: ["x".repeat(1025)] }, /`stop.0`: .*<=1024/],
    [
      "biases",
      { logit_bias: Object.fromEntries(Array.from({ length: 4097 }, (_, i) => [i, 1])) },
      /at most 4096/,
    ],
    [
      "prompts",
      { prompt: Array.from({ length: 1025 }, () => "a") },
      /1025 prompts .* more than 1024 answers/,
    ],
    ["prompts with answers", { prompt: Array.from({ length: 20 }, () => "a"), n: 100 }, /more than 1024/],
    [
      "a prompt",
      { prompt: "a".repeat(60_000) },
      /60,000 characters, more than the model's context of 64 tokens/,
    ],
    ["tokens", { prompt: Array.from({ length: 10_000 }, () => 3) }, /10000 tokens.*context is 64/],
  ];
  for (const [what, body, message] of completions)
    it(`is refused for ${what}`, async () => {
      const found = await refused(
        await send(`${url}/v1/completions`, JSON.stringify({ prompt: "a", ...body })),
      );
      assert.equal(found.status, 400);
      assert.match(found.message, message);
    });

  it("is refused for messages, tools and levels, in each API's form", async () => {
    const messages = Array.from({ length: 4097 }, () => ({ role: "user", content: "" }));
    const small = await served();
    assert.match(
      (await refused(await send(`${small}/v1/chat/completions`, chat({ messages })))).message,
      /<=4096/,
    );
    const tools = Array.from({ length: 513 }, () => ({ type: "function", function: { name: "f" } }));
    assert.match((await refused(await send(`${url}/v1/chat/completions`, chat({ tools })))).message, /<=512/);
    const deep = (levels: number): string =>
      `{"a":"\\"[[[","messages":[{"role":"user","content":"a"}],"max_tokens":1,"chat_template_kwargs":{"a":${"[".repeat(levels)}${"]".repeat(levels)}}}`;
    const found = await refused(await send(`${url}/v1/chat/completions`, deep(20_000)));
    assert.deepEqual([found.status, found.code], [400, "too_deep"]);
    const anthropic = await send(`${url}/v1/messages`, deep(20_000));
    assert.equal(z.looseObject({ type: z.string() }).parse(await anthropic.json()).type, "error");
    assert.equal((await send(`${url}/v1/chat/completions`, deep(MOST_LEVELS - 2))).status, 200);
  });

  it("is refused for its body, with a length or without one, before it is read or while", async () => {
    const long = chat({ user: "x".repeat(100 * KiB) });
    const found = await refused(await send(`${url}/v1/chat/completions`, long));
    assert.deepEqual([found.status, found.code], [413, "too_large"]);
    assert.match(found.message, /longer than 65,536 bytes/);
    const { hostname, port } = new URL(url);
    const asked = httpRequest({
      hostname,
      port,
      path: "/v1/completions",
      method: "POST",
      headers: { authorization },
    });
    for (let i = 0; i < 100; i++) asked.write("x".repeat(KiB));
    const [response] = await once(asked, "response");
    assert.equal(response.statusCode, 413);
    response.resume();
    asked.end();
  });

  it("is refused for its headers, and for what is no HTTP", async () => {
    const header = `GET /v1/models HTTP/1.1\r\nhost: 127.0.0.1\r\nx-a: ${"a".repeat(40 * KiB)}\r\n\r\n`;
    const back = await raw(url, header);
    assert.match(back, /^HTTP\/1\.1 431 /);
    assert.match(back, /"code":"headers_too_large"/);
    assert.match(await raw(url, "NONSENSE\r\n\r\n"), /^HTTP\/1\.1 400 .*"code":"invalid_request"/s);
  });

  it("is refused for the name of a session and for what is set of it", async () => {
    const name = await refused(await send(`${url}/sessions/${"n".repeat(257)}/v1/completions`, "{}"));
    assert.deepEqual([name.status, name.code], [400, "invalid_session"]);
    assert.match(name.message, /256 characters/);
    const other = await served();
    const defaults = JSON.stringify({ defaults: { user: "x".repeat(70 * KiB) } });
    const set = await refused(await send(`${other}/sessions/a`, defaults, "PUT"));
    assert.deepEqual([set.status, set.code], [413, "too_large"]);
  });
});

describe("requests that come together", () => {
  it("are no more than the server takes, and more come in when some have gone", async () => {
    const url = await served({ requests: 2 });
    const leave = new AbortController();
    const waiting = [1, 2].map(() =>
      fetch(`${url}/weights/99`, { headers: { authorization }, signal: leave.signal }).catch(() => undefined),
    );
    const models = (): Promise<Response> => fetch(`${url}/v1/models`, { headers: { authorization } });
    const full = await until(async () => {
      const response = await models();
      return response.status === 429 && response;
    }, "a refusal");
    const found = await refused(full);
    assert.equal(found.code, "too_many_requests");
    assert.match(found.message, /2 requests at once/);
    leave.abort();
    await Promise.all(waiting);
    await until(async () => (await models()).ok, "room");
  });

  it("have no more bytes than the server takes", async () => {
    const url = await served({ bodies: 200 * KiB });
    const { hostname, port } = new URL(url);
    const long = 150 * KiB;
    const first: Socket = connect(Number(port), hostname);
    first.write(
      `POST /v1/completions HTTP/1.1\r\nhost: 127.0.0.1\r\nauthorization: ${authorization}\r\ncontent-length: ${long}\r\n\r\n${"x".repeat(long - 1)}`,
    );
    const body = JSON.stringify({ prompt: "a", max_tokens: 1, user: "x".repeat(100 * KiB) });
    const full = await until(async () => {
      const response = await send(`${url}/v1/completions`, body);
      return response.status === 429 && response;
    }, "a refusal");
    assert.match((await refused(full)).message, /204,800 bytes of requests at once/);
    first.destroy();
    await until(async () => (await send(`${url}/v1/completions`, body)).ok, "room");
  });
});

describe("what is kept", () => {
  it("is forgotten by bytes, those of messages and of what is set included", async () => {
    const url = await served({ kept: 256 * KiB });
    const defaults = JSON.stringify({ defaults: { user: "x".repeat(60 * KiB) } });
    for (const name of ["a", "b", "c", "d", "e"]) await send(`${url}/sessions/${name}`, defaults, "PUT");
    const captured = (name: string): Promise<Response> =>
      fetch(`${url}/sessions/${name}/captured`, { headers: { authorization } });
    const found = await refused(await captured("a"));
    assert.deepEqual([found.status, found.code], [410, "session_forgotten"]);
    assert.match(found.message, /262,144 bytes at most/);
    assert.equal((await captured("e")).status, 200);
    const messages = [{ role: "user", content: "a", name: "n".repeat(200 * KiB) }];
    assert.equal((await send(`${url}/sessions/f/v1/chat/completions`, chat({ messages }))).status, 200);
    assert.equal((await captured("d")).status, 410);
    assert.equal((await captured("f")).status, 200);
  });

  it("leaves memory flat under a flood", async () => {
    const url = await served({ kept: 4 * 1024 * KiB });
    setFlagsFromString("--expose-gc");
    const collect = runInNewContext("gc") as () => void;
    const held = (): number => {
      collect();
      const { heapUsed, external } = process.memoryUsage();
      return heapUsed + external;
    };
    const messages = [{ role: "user", content: "a", name: "n".repeat(1024 * KiB) }];
    const flood = async (from: number): Promise<void> => {
      for (let i = from; i < from + 12; i++) {
        await (await send(`${url}/sessions/s${i}/v1/chat/completions`, chat({ messages }))).text();
        await (
          await send(`${url}/sessions/p${i}`, `{"defaults":{"user":"${"x".repeat(1024 * KiB)}"}}`, "PUT")
        ).text();
      }
    };
    await flood(0);
    const before = held();
    await flood(100);
    // What is freed goes back in its own time.
    await until(() => held() - before < 6 * 1024 * KiB, "the memory of a flood of 24 MiB");
  });

  it("is not kept for a client that does not read its stream", async () => {
    const ended = new Promise<number>((done) => {
      const server = createServer((_, response) => {
        const reply = new Reply(response, "openai", 64 * KiB);
        reply.stream(1);
        let events = 0;
        const write = (): void => {
          if (response.destroyed) return void server.close(() => done(events));
          reply.event({ text: "x".repeat(8 * KiB) });
          events++;
          setImmediate(write);
        };
        write();
      });
      server.listen(0, "127.0.0.1", () => {
        const { port } = server.address() as AddressInfo; // a TCP server's is always one
        const socket = connect(port, "127.0.0.1");
        socket.on("error", () => undefined).pause();
        socket.write("GET / HTTP/1.1\r\nhost: a\r\n\r\n");
      });
    });
    assert.ok((await ended) > 8);
  });
});
