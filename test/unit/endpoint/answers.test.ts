/** What an answer says: stop texts, pieces while it is written, calls of tools; conversations as templates read them. */
import assert from "node:assert/strict";
import { test } from "node:test";
import { AnswerStream, said, textOf } from "../../../server/endpoint/answerText.ts";
import { anthropicMessage, openAiMessage, rendered } from "../../../server/endpoint/conversation.ts";
import { errorBody, Refusal, refusalOf } from "../../../server/endpoint/errors.ts";
import { UserError } from "../../../shared/lib/errors.ts";
import type { ChatMessage } from "../../../server/core/policy.ts";
import { ChatTemplate } from "../../../server/engine/tokenizers/chatTemplate.ts";
import { CharacterTokenizer } from "../../../server/engine/tokenizers/characters.ts";
import type { PolicyTokenizer } from "../../../server/engine/tokenizers/types.ts";

const tokenizer = new CharacterTokenizer();
const call = (name: string, args: object): string =>
  `<tool_call>\n${JSON.stringify({ name, arguments: args })}\n</tool_call>`;

const tools = [{ name: "find", description: "", parameters: { type: "object" } }];

/** The pieces of a text that is written token by token. */
function pieces(text: string, stop: readonly string[], tools = false): string[] {
  const stream = new AnswerStream(tokenizer, stop, tools);
  const given = [...tokenizer.encode(text)].map((token) => stream.push(token));
  return [...given, stream.end()].filter((piece) => piece !== "");
}

test("a text ends at its first stop text, and pieces never hold the beginning of one", () => {
  const written = tokenizer.encode("one STOP two END");
  assert.deepEqual(textOf(tokenizer, written, ["END", "STOP"]), { text: "one ", stop: "STOP" });
  assert.deepEqual(textOf(tokenizer, written, []), { text: "one STOP two END", stop: null });
  const ended = Int32Array.from([...tokenizer.encode("ab"), tokenizer.eos]);
  assert.deepEqual(textOf(tokenizer, ended, []), { text: "ab", stop: null });
  assert.equal(pieces("one STOP two", ["STOP"]).join(""), "one ");
  assert.deepEqual(pieces("a STO b", ["STOP"]), ["a", " ", "STO ", "b"]);
  assert.deepEqual(pieces("a ST", ["STOP"]), ["a", " ", "ST"]);
});

test("calls of tools are read, also several; what is none stays text", () => {
  const two = `I look.\n${call("search", { q: "x" })}\n${call("add", { a: 1, b: [2] })}`;
  assert.deepEqual(said(two, tools), {
    text: "I look.",
    calls: [
      { name: "search", arguments: { q: "x" } },
      { name: "add", arguments: { a: 1, b: [2] } },
    ],
  });
  assert.equal(pieces(two, [], true).join(""), "I look.\n");
  for (const text of ["no call", "<tool_call>{broken</tool_call>", '<tool_call>{"name":3}</tool_call>'])
    assert.deepEqual(said(text, tools), { text, calls: [] });
  assert.deepEqual(said(two, []), { text: two, calls: [] }, "no tools were offered");
});

const source =
  "{% for t in tools or [] %}[{{ t.function.name }}]{% endfor %}{% for m in messages %}<{{ m.role }}>{{ m.content }}{% for c in m.tool_calls or [] %}!{{ c.function.name }}({{ c.function.arguments.q }}){% endfor %}{% endfor %}<assistant>";
const withChat: PolicyTokenizer = Object.assign(Object.create(tokenizer), {
  chat: (...given: Parameters<ChatTemplate["render"]>) => new ChatTemplate(source, {}, "x").render(...given),
});

test("both APIs' conversations with tools are the same text for the model", () => {
  const openAi = [
    { role: "developer", content: "be brief" },
    { role: "user", content: [{ type: "text", text: "hi" }] },
    {
      role: "assistant",
      content: null,
      tool_calls: [{ id: "1", function: { name: "find", arguments: '{"q":"a"}' } }],
    },
    { role: "tool", tool_call_id: "1", content: "found" },
  ].map((message) => openAiMessage.parse(message));
  const anthropic = [
    { role: "user", content: "hi" },
    { role: "assistant", content: [{ type: "tool_use", id: "1", name: "find", input: { q: "a" } }] },
    {
      role: "user",
      content: [{ type: "tool_result", tool_use_id: "1", content: [{ type: "text", text: "found" }] }],
    },
  ].flatMap((message) => anthropicMessage.parse(message));
  const expected = "[find]<system>be brief<user>hi<assistant>!find(a)<tool>found<assistant>";
  assert.equal(rendered(withChat, { messages: openAi, tools }).text, expected);
  const system = { role: "system", content: "be brief" };
  assert.equal(rendered(withChat, { messages: [system, ...anthropic], tools }).text, expected);
  assert.equal(rendered(tokenizer, { messages: openAi, tools: [] }).text, "be briefhifound");
  const words = rendered(tokenizer, { messages: openAi, tools }).text;
  assert.match(
    words,
    /^You may use tools.*"find".*be briefhi<tool_call>\{"name":"find","arguments":\{"q":"a"\}\}<\/tool_call>\n<tool_response>\nfound\n/s,
  );
  const silent: PolicyTokenizer = Object.assign(Object.create(tokenizer), {
    chat: (messages: readonly ChatMessage[]) =>
      messages.map(({ role, content }) => `<${role}>${content}`).join(""),
  });
  assert.match(
    rendered(silent, { messages: openAi.slice(1), tools }).text,
    /^<system>You may use tools.*<user>hi<assistant><tool_call>.*<\/tool_call><tool>found$/s,
  );
  assert.throws(
    () =>
      openAiMessage.parse({ role: "assistant", tool_calls: [{ function: { name: "f", arguments: "[" } }] }),
    /not a JSON object/,
  );
});

test("errors have each API's own shape, and the next action", () => {
  const user = refusalOf(new UserError("The prompt is empty.", { action: "Write one.", code: "empty" }));
  assert.deepEqual(errorBody("openai", user), {
    error: {
      message: "The prompt is empty. Write one.",
      type: "invalid_request_error",
      param: null,
      code: "empty",
    },
  });
  const missing = new Refusal(401, "invalid_api_key", "No token.");
  assert.deepEqual(errorBody("anthropic", missing), {
    type: "error",
    error: { type: "authentication_error", message: "No token." },
  });
  assert.equal(refusalOf(new Error("broken")).status, 500);
});
