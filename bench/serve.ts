/** Eight sessions with `gradus serve`'s endpoint compared with the engine's own decoding in eight lanes: `npm run bench -- serve [--rounds=5]`. */
import { spawn } from "node:child_process";
import { once } from "node:events";
import { loadavg } from "node:os";
import { createInterface } from "node:readline";
import { openEndpoint, type Endpoint } from "../server/endpoint/server.ts";
import { openLanguageModel } from "../server/engine/index.ts";
import type { LanguageModel } from "../server/engine/policy.ts";
import { adamwChoice } from "../server/methods/optimizer/adamw.ts";
import { measured, median, option } from "./report.ts";

const rounds = option("rounds", 5);
const sessions = option("sessions", 8);
/** Requests of a session, one after the other, and tokens of each answer. */
const requests = option("requests", 4);
const tokens = option("tokens", 256);
const token = "bench";

/** The harness, a process of its own: for each line it reads, every session makes its requests. */
const harness = (url: string): string => `
import { createInterface } from "node:readline";
const ask = async (session, request, stream) => {
  const response = await fetch(${JSON.stringify(url)} + "/sessions/" + session + "/v1/completions", {
    method: "POST",
    headers: { authorization: "Bearer ${token}" },
    body: JSON.stringify({ prompt: "session " + session + " asks " + request, max_tokens: ${tokens}, min_tokens: ${tokens}, stream }),
  });
  if (!response.ok) throw new Error(await response.text());
  await response.text();
};
for await (const line of createInterface({ input: process.stdin })) {
  const stream = line === "stream";
  await Promise.all(Array.from({ length: ${sessions} }, async (_, session) => {
    for (let request = 0; request < ${requests}; request++) await ask(session, request, stream);
  }));
  console.log("done");
}`;

class Harness {
  private readonly child;
  private readonly lines: AsyncIterator<string>;
  constructor({ url }: Endpoint) {
    this.child = spawn(process.execPath, ["--input-type=module", "-e", harness(url)], {
      stdio: ["pipe", "pipe", "inherit"],
    });
    this.lines = createInterface({ input: this.child.stdout })[Symbol.asyncIterator]();
  }
  /** Seconds until every session has its answers. */
  async seconds(how: "whole" | "stream"): Promise<number> {
    const start = performance.now();
    this.child.stdin.write(`${how}\n`);
    if ((await this.lines.next()).done === true) throw new Error("the harness ended early");
    return (performance.now() - start) / 1000;
  }
  async close(): Promise<void> {
    const ended = once(this.child, "exit");
    this.child.stdin.end();
    await ended;
  }
}

/** Seconds of the engine alone, for as many answers of as many tokens. */
async function engine(policy: LanguageModel, round: number): Promise<number> {
  const prompts = Array.from({ length: sessions * requests }, (_, index) => ({
    tokens: policy.tokenizer.encode(`session ${index % sessions} asks ${Math.floor(index / sessions)}`),
    key: ["bench", index],
  }));
  const start = performance.now();
  let written = 0;
  const decode = { max_tokens: tokens, min_tokens: tokens, temperature: 1, lanes: sessions, seed: round };
  for await (const sample of policy.generate(prompts, decode)) written += sample.tokens.length;
  if (written !== sessions * requests * tokens) throw new Error(`${written} tokens were written`);
  return (performance.now() - start) / 1000;
}

interface Time {
  readonly seconds: number;
  /** Of this process. */
  readonly processor: number;
}
async function timed(what: () => Promise<number>): Promise<Time> {
  const before = process.cpuUsage();
  const seconds = await what();
  const { user, system } = process.cpuUsage(before);
  return { seconds, processor: (user + system) / 1e6 };
}

for (const size of [
  { width: 128, layers: 4, heads: 4, kv_heads: 4, hidden: 384 },
  { width: 256, layers: 6, heads: 8, kv_heads: 8, hidden: 768 },
]) {
  const policy = await openLanguageModel({
    model: { base: "tiny", size: { ...size, context: 320, tied: true } },
    optimizer: adamwChoice({ lr: 1e-3, clip_norm: null }),
    backend: "native",
    seed: 1,
  });
  const endpoint = await openEndpoint({
    policy,
    model: "bench",
    token,
    port: 0,
    seed: 1,
    lanes: sessions,
    report: console.error,
  });
  const client = new Harness(endpoint);
  await engine(policy, 0); // prepares the programs; the client's first connections too
  await client.seconds("whole");
  const [own, whole, stream]: [Time[], Time[], Time[]] = [[], [], []];
  for (let round = 1; round <= rounds; round++) {
    own.push(await timed(() => engine(policy, round)));
    whole.push(await timed(() => client.seconds("whole")));
    stream.push(await timed(() => client.seconds("stream")));
  }
  await client.close();
  await endpoint.close();
  policy.close();
  const written = sessions * requests * tokens;
  const setting = `${sessions} sessions × ${requests} answers × ${tokens} tokens, width ${size.width}, ${size.layers} layers, median of ${rounds} rounds, load ${loadavg()[0]!.toFixed(1)}`;
  const what = `serve, ${size.width} wide`;
  const ratio = (served: readonly Time[], by: keyof Time = "seconds"): number =>
    median(own.map((time, round) => time[by] / served[round]![by]));
  measured({
    what: `${what}: the engine in ${sessions} lanes`,
    value: written / median(own.map(({ seconds }) => seconds)) / 1000,
    unit: "k tokens/s",
    setting,
  });
  measured({
    what: `${what}: tokens a second of ${sessions} sessions by the engine's own`,
    value: ratio(whole),
    unit: "×",
    goal: 0.9,
    least: true,
    setting,
  });
  measured({ what: `${what}: the same as streams`, value: ratio(stream), unit: "×", setting });
  measured({
    what: `${what}: the same by the server's processor time`,
    value: ratio(whole, "processor"),
    unit: "×",
    setting,
  });
}
