/** A conversation's next call keeps the tokens that were written before. */
import assert from "node:assert/strict";
import { test } from "node:test";
import { rendered } from "../../../server/endpoint/conversation.ts";
import { goingOn } from "../../../server/endpoint/goingOn.ts";
import type { Captured } from "../../../server/endpoint/sessions.ts";
import { ChatTemplate } from "../../../server/engine/tokenizers/chatTemplate.ts";
import { CharacterTokenizer } from "../../../server/engine/tokenizers/characters.ts";
import type { PolicyTokenizer } from "../../../server/engine/tokenizers/types.ts";

const plain = new CharacterTokenizer();
/** "ab" may be one token, which texts are read as, or two, which a policy may write. An end of turn is text in templates. */
const pairs = { ab: 200, "<end>": plain.eos } as const;
const withPairs: PolicyTokenizer = Object.assign(Object.create(plain), {
  encode: (text: string) =>
    Int32Array.from(
      text
        .split(/(ab|<end>)/)
        .flatMap((part) => (part === "ab" || part === "<end>" ? [pairs[part]] : [...plain.encode(part)])),
    ),
  decode: (tokens: ArrayLike<number>) =>
    Array.from(tokens, (token) => (token === pairs.ab ? "ab" : plain.decode([token]))).join(""),
});
const source = (thoughts: boolean): string =>
  `{% for m in messages %}<{{ m.role }}>{{ m.content${thoughts ? "" : ".replace('*', '')"} }}<end>{% endfor %}<assistant>`;
const withChat = (text: string): PolicyTokenizer =>
  Object.assign(Object.create(withPairs), {
    chat: (...given: Parameters<ChatTemplate["render"]>) => new ChatTemplate(text, {}, "x").render(...given),
  });

const user = (content: string) => ({ role: "user", content });
const assistant = (content: string) => ({ role: "assistant", content });

function called(
  tokenizer: PolicyTokenizer,
  messages: readonly { role: string; content: string }[],
  tokens: readonly number[],
): Captured {
  const { text: prompt, tokens: asked } = rendered(tokenizer, { messages, tools: [] });
  const row = { logp_old: [], logp_sampled: [], entropy: [], versions: [], finish: "stop", aborted: false };
  const more = { call: 0, choice: 0, api: "chat", at: "", text: "", temperature: 1 } as const;
  return { ...more, ...row, finish: "stop", messages, prompt, prompt_tokens: [...asked], tokens };
}
function next(
  tokenizer: PolicyTokenizer,
  messages: readonly { role: string; content: string }[],
  calls: readonly Captured[],
): number[] | undefined {
  const { text: prompt } = rendered(tokenizer, { messages, tools: [] });
  const found = goingOn(tokenizer, { messages, prompt }, calls);
  return found && [...found];
}
const split = [...plain.encode("a"), ...plain.encode("b")];

test("the tokens that were written stay, where their text would be read as others", () => {
  const tokenizer = withChat(source(true));
  const one = called(tokenizer, [user("hi")], [...split, plain.eos]);
  const messages = [user("hi"), assistant("ab"), user("and")];
  assert.deepEqual(next(tokenizer, messages, [one]), [
    ...one.prompt_tokens,
    ...split,
    ...tokenizer.encode("<end><user>and<end><assistant>"),
  ]);
  const cut = called(tokenizer, [user("hi")], split);
  assert.deepEqual(
    next(tokenizer, messages, [cut]),
    next(tokenizer, messages, [one]),
    "the template ends it",
  );
});

test("without a chat template the policy's end of its turn stays", () => {
  const one = called(withPairs, [user("1+1=")], [...plain.encode("3"), plain.eos]);
  const messages = [user("1+1="), assistant("3"), user("no")];
  assert.deepEqual(next(withPairs, messages, [one]), [
    ...plain.encode("1+1=3"),
    plain.eos,
    ...plain.encode("no"),
  ]);
  const two = { ...called(withPairs, messages, [...plain.encode("2")]), prompt_tokens: [1, 2, 3] };
  const longer = [...messages, assistant("2"), user("")];
  assert.deepEqual(
    next(withPairs, longer, [one, two]),
    [1, 2, 3, ...plain.encode("2")],
    "the longest goes on",
  );
});

test("another conversation, another history and a template that drops text begin again", () => {
  const tokenizer = withChat(source(false));
  const one = called(tokenizer, [user("hi")], [...plain.encode("*a"), plain.eos]);
  assert.equal(next(tokenizer, [user("hi"), assistant("*a"), user("and")], [one]), undefined);
  const said = called(withPairs, [user("a")], plain.encode("b") as unknown as number[]);
  assert.equal(next(withPairs, [user("abc")], [said]), undefined, "the same text, said by the user");
  assert.equal(next(withPairs, [user("a"), assistant("c"), user("d")], [said]), undefined);
  assert.equal(next(withPairs, [user("a"), assistant("b")], []), undefined);
});
