/** `gradus serve` on a tiny checkpoint: a real process, asked as OpenAI's and Anthropic's clients ask. */
import assert from "node:assert/strict";
import { once } from "node:events";
import { mkdtempSync, rmSync } from "node:fs";
import { request, type IncomingMessage } from "node:http";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { after, before, test } from "node:test";
import { z } from "zod";
import { openLanguageModel } from "../../server/engine/index.ts";
import type { LanguageModel } from "../../server/engine/policy.ts";
import { adamwChoice } from "../../server/methods/optimizer/adamw.ts";
import { stir } from "../unit/engine/support.ts";
import { Workspace, type Talk } from "../support/workspace.ts";

const folder = mkdtempSync(join(tmpdir(), "gradus-serve-"));
const checkpoint = join(folder, "tiny");
const token = "a-token-of-this-test";
let workspace: Workspace;
let talk: Talk;
let url: string;
let own: LanguageModel;

const size = { width: 16, layers: 2, heads: 4, kv_heads: 2, hidden: 24, context: 400, tied: true };
const opening = (base: string): Promise<LanguageModel> =>
  openLanguageModel({
    model: { base, size },
    optimizer: adamwChoice({ lr: 1e-2 }),
    backend: "native",
    threads: 1,
    seed: 7,
  });

before(async () => {
  const made = await opening("tiny");
  stir(made);
  await made.save(checkpoint);
  made.close();
  own = await opening(checkpoint);
  workspace = new Workspace();
  talk = workspace.start("serve", checkpoint, "--json", "--token", token, "--name", "tiny");
  await talk.until(({ lines }) => lines.length > 0);
  url = z.looseObject({ url: z.string() }).parse(talk.lines[0]).url;
});
after(async () => {
  talk.child.kill("SIGTERM");
  assert.equal(await talk.ended, 0, talk.stderr);
  own.close();
  await workspace.remove();
  rmSync(folder, { recursive: true, force: true });
});

const ask = (path: string, body?: object, headers: Record<string, string> = {}): Promise<Response> =>
  fetch(`${url}${path}`, {
    ...(body && { method: "POST", body: JSON.stringify(body) }),
    headers: { authorization: `Bearer ${token}`, "content-type": "application/json", ...headers },
  });
const events = (text: string): unknown[] =>
  text
    .split("\n")
    .flatMap((line) =>
      line.startsWith("data: {") ? [JSON.parse(line.slice("data: ".length)) as unknown] : [],
    );

const chatAnswer = z.looseObject({
  model: z.literal("tiny"),
  weight_version: z.literal(0),
  system_fingerprint: z.literal("gradus-v0"),
  prompt_token_ids: z.array(z.number()),
  choices: z.array(
    z.looseObject({
      message: z.looseObject({ content: z.string() }),
      finish_reason: z.string(),
      token_ids: z.array(z.number()),
      logprobs: z.looseObject({
        content: z.array(z.looseObject({ logprob: z.number(), token: z.string() })),
      }),
    }),
  ),
  usage: z.looseObject({ prompt_tokens: z.number(), completion_tokens: z.number() }),
});
const captured = z.looseObject({
  captured: z.array(
    z.looseObject({
      call: z.number(),
      api: z.string(),
      prompt_tokens: z.array(z.number()),
      tokens: z.array(z.number()),
      logp_old: z.array(z.number()),
      logp_sampled: z.array(z.number()),
      versions: z.array(z.number()),
      finish: z.string(),
      text: z.string(),
    }),
  ),
});
const details = { return_token_ids: true, logprobs: true, max_tokens: 12 };

/** What the sampler itself writes for a prompt. */
async function sampled(tokens: readonly number[], seed: number, temperature: number, choice = 0) {
  for await (const sample of own.generate(
    [{ tokens: Int32Array.from(tokens), key: ["serve", choice], seed, temperature }],
    { max_tokens: 12, temperature: 1, seed: 1 },
  ))
    return sample;
  throw new Error("nothing was generated");
}

test("a chat completion has the sampler's own tokens and log-probs, and says which weights wrote it", async () => {
  const body = {
    model: "tiny",
    messages: [{ role: "user", content: "2+3?" }],
    seed: 5,
    n: 2,
    temperature: 0.8,
    ...details,
  };
  const response = await ask("/v1/chat/completions", body);
  assert.equal(response.headers.get("x-gradus-version"), "0");
  const { choices, prompt_token_ids, usage } = chatAnswer.parse(await response.json());
  assert.equal(own.tokenizer.decode(prompt_token_ids), "2+3?");
  assert.equal(usage.prompt_tokens, prompt_token_ids.length);
  assert.equal(choices.length, 2);
  for (const [index, choice] of choices.entries()) {
    const sample = await sampled(prompt_token_ids, 5, 0.8, index);
    assert.deepEqual(choice.token_ids, [...sample.tokens]);
    choice.logprobs.content.forEach(({ logprob }, at) =>
      assert.ok(Math.abs(logprob - sample.logp_old[at]!) < 1e-4),
    );
    assert.equal(choice.finish_reason, sample.finish);
  }
});

test("a stream says the same in pieces, in all three ways of asking", async () => {
  const messages = [{ role: "user", content: "count" }];
  const whole = chatAnswer.parse(
    await (await ask("/v1/chat/completions", { messages, seed: 8, ...details })).json(),
  ).choices[0]!;
  const chunks = z
    .array(
      z.looseObject({
        choices: z.array(
          z.looseObject({
            delta: z.looseObject({ content: z.string().optional() }),
            token_ids: z.array(z.number()).optional(),
            finish_reason: z.string().nullable(),
          }),
        ),
      }),
    )
    .parse(
      events(
        await (await ask("/v1/chat/completions", { messages, seed: 8, ...details, stream: true })).text(),
      ),
    )
    .flatMap(({ choices }) => choices);
  assert.equal(chunks.map(({ delta }) => delta.content ?? "").join(""), whole.message.content);
  assert.deepEqual(
    chunks.flatMap(({ token_ids }) => token_ids ?? []),
    whole.token_ids,
  );
  assert.equal(chunks.at(-1)!.finish_reason, whole.finish_reason);
  const plain = { prompt: "count", seed: 8, ...details, logprobs: 1 };
  const text = z.looseObject({
    choices: z.array(z.looseObject({ text: z.string(), token_ids: z.array(z.number()) })),
  });
  assert.deepEqual(
    text.parse(await (await ask("/v1/completions", plain)).json()).choices[0]!.token_ids,
    whole.token_ids,
  );
  const streamed = z
    .array(text)
    .parse(events(await (await ask("/v1/completions", { ...plain, stream: true })).text()));
  assert.equal(
    streamed.flatMap(({ choices }) => choices.map((choice) => choice.text)).join(""),
    whole.message.content,
  );
  const claude = { messages, seed: 8, max_tokens: 12 };
  const message = z.looseObject({
    content: z.array(z.looseObject({ text: z.string() })),
    stop_reason: z.string(),
  });
  const headers = { "x-api-key": token, authorization: "", "anthropic-version": "2023-06-01" };
  const answered = message.parse(await (await ask("/v1/messages", claude, headers)).json());
  assert.equal(answered.content[0]!.text, whole.message.content);
  const deltas = z
    .array(
      z.looseObject({ type: z.string(), delta: z.looseObject({ text: z.string().optional() }).optional() }),
    )
    .parse(events(await (await ask("/v1/messages", { ...claude, stream: true }, headers)).text()));
  assert.equal(deltas.map(({ delta }) => delta?.text ?? "").join(""), whole.message.content);
  assert.deepEqual([deltas[0]!.type, deltas.at(-1)!.type], ["message_start", "message_stop"]);
});

test("eight sessions at once are captured turn by turn, each with its own tokens", async () => {
  const session = async (name: string, header: boolean): Promise<void> => {
    const messages: { role: string; content: string }[] = [{ role: "system", content: `you are ${name}` }];
    const given: z.output<typeof chatAnswer>[] = [];
    for (let turn = 0; turn < 3; turn++) {
      messages.push({ role: "user", content: `turn ${turn}` });
      const path = header ? "/v1/chat/completions" : `/sessions/${name}/v1/chat/completions`;
      const response = await ask(path, { messages, ...details }, header ? { "x-session-id": name } : {});
      given.push(chatAnswer.parse(await response.json()));
      messages.push({ role: "assistant", content: given.at(-1)!.choices[0]!.message.content });
    }
    const kept = captured.parse(await (await ask(`/sessions/${name}/captured`)).json()).captured;
    assert.deepEqual(
      kept.map(({ call, api, finish, text, tokens, prompt_tokens }) => ({
        call,
        api,
        finish,
        text,
        tokens,
        prompt_tokens,
      })),
      given.map(({ choices: [choice], prompt_token_ids }, call) => ({
        call,
        api: "chat",
        finish: choice!.finish_reason,
        text: choice!.message.content,
        tokens: choice!.token_ids,
        prompt_tokens: prompt_token_ids,
      })),
    );
    for (const { tokens, logp_old, logp_sampled, versions } of kept) {
      assert.ok([logp_old, logp_sampled, versions].every(({ length }) => length === tokens.length));
      assert.ok(versions.every((version) => version === 0));
    }
  };
  await Promise.all(Array.from({ length: 8 }, (_, index) => session(`s${index}`, index % 2 === 0)));
  const forgotten = await fetch(`${url}/sessions/s3`, {
    method: "DELETE",
    headers: { authorization: `Bearer ${token}` },
  });
  assert.deepEqual(await forgotten.json(), { session: "s3", forgotten: true });
  assert.equal((await ask("/sessions/s3/captured")).status, 404);
});

test("stop texts, greedy decoding and a list of prompts", async () => {
  const text = z.looseObject({
    choices: z.array(z.looseObject({ text: z.string(), finish_reason: z.string() })),
  });
  const completion = async (more: object): Promise<z.output<typeof text>["choices"]> =>
    text.parse(
      await (await ask("/v1/completions", { prompt: "abc", max_tokens: 24, temperature: 0, ...more })).json(),
    ).choices;
  const [whole] = await completion({});
  const stop = whole!.text.slice(6, 8);
  const [cut] = await completion({ stop });
  assert.deepEqual(cut, {
    ...cut,
    text: whole!.text.slice(0, whole!.text.indexOf(stop)),
    finish_reason: "stop",
  });
  assert.deepEqual(
    (await completion({ prompt: ["abc", "abc"], n: 2, top_p: 0.9 })).map((choice) => choice.text),
    Array(4).fill(whole!.text),
  );
});

test("refusals have the API's shape and name the next action", async () => {
  const openAi = z.looseObject({
    error: z.looseObject({ message: z.string(), type: z.string(), code: z.string() }),
  });
  const messages = [{ role: "user", content: "x".repeat(500) }];
  for (const [status, code, body, headers] of [
    [401, "invalid_api_key", { messages }, { authorization: "Bearer wrong" }],
    [404, "model_not_found", { model: "gpt", messages }, {}],
    [400, "context_length_exceeded", { messages }, {}],
    [400, "invalid_request", { messages: [] }, {}],
    [400, "unsupported_parameter", { messages, response_format: { type: "json_object" } }, {}],
  ] as const) {
    const response = await ask("/v1/chat/completions", body, headers);
    const { error } = openAi.parse(await response.json());
    assert.deepEqual([response.status, error.code], [status, code]);
    assert.match(error.message, /\. [A-Z][^.]+\.$/);
  }
  const claude = await ask("/v1/messages", { messages, max_tokens: 3 });
  assert.equal(claude.status, 400);
  assert.equal(
    z
      .looseObject({ type: z.literal("error"), error: z.looseObject({ type: z.string() }) })
      .parse(await claude.json()).error.type,
    "invalid_request_error",
  );
});

test("an address that cannot be read is answered, and without the token nothing is said of it", async () => {
  const status = async (path: string, headers: Record<string, string>): Promise<number | undefined> => {
    const asked = request(url, { path, headers });
    asked.end();
    const [response] = (await once(asked, "response")) as [IncomingMessage];
    response.resume();
    return response.statusCode;
  };
  const known = { authorization: `Bearer ${token}` };
  for (const path of ["http://[", "/sessions/%zz/captured", "/sessions/%/v1/models", "/v1/models/%zz"])
    assert.deepEqual([path, await status(path, {}), await status(path, known)], [path, 401, 400]);
  for (const path of ["//", "///"])
    assert.deepEqual([path, await status(path, {}), await status(path, known)], [path, 401, 404]);
  assert.equal(await status("/v1/models", { ...known, host: "evil.example" }), 403);
  assert.equal(await status("/v1/models", { ...known, origin: "http://evil.example" }), 403);
  assert.equal(await status("/v1/models", known), 200);
});

test("an empty token is refused before anything is served", async () => {
  const { code, stderr } = await workspace.finish("serve", checkpoint, "--json", "--token", "");
  assert.notEqual(code, 0);
  assert.match(stderr, /--token is empty/);
});

test("a client that leaves frees its lane: the next request is answered at once", async () => {
  const leaving = new AbortController();
  const asked = fetch(`${url}/v1/completions`, {
    method: "POST",
    signal: leaving.signal,
    headers: { authorization: `Bearer ${token}`, "x-session-id": "left" },
    body: JSON.stringify({
      prompt: "go on",
      max_tokens: 390,
      stream: true,
      logit_bias: { [String(own.tokenizer.eos)]: -100 },
    }),
  });
  const reader = (await asked).body!.getReader();
  await reader.read();
  leaving.abort();
  await assert.rejects(reader.read());
  const kept = async () => captured.parse(await (await ask("/sessions/left/captured")).json()).captured;
  while ((await kept()).length === 0) await new Promise(setImmediate);
  const [call] = await kept();
  assert.equal(call!["aborted"], true);
  assert.ok(call!.tokens.length < 390);
});
