import assert from "node:assert/strict";
import { test } from "node:test";
import { grammarOf } from "../../../server/engine/grammar/index.ts";
import { LanguageModel } from "../../../server/engine/policy.ts";
import { CharacterTokenizer } from "../../../server/engine/tokenizers/characters.ts";
import type { PolicyTokenizer } from "../../../server/engine/tokenizers/types.ts";
import type { GrammarState, Prompt, Tokenizer } from "../../../server/core/policy.ts";
import { collect, largestDifference, open, stir } from "./support.ts";

const tokenizer = new CharacterTokenizer();
const prompts: Prompt[] = Array.from({ length: 12 }, (_, index) => ({
  tokens: tokenizer.encode("abc".slice(index % 3)),
  key: ["constraints", index],
}));

/** Whether the grammar takes a whole text, a character at a time. */
function takes(start: GrammarState, text: string, by: Tokenizer = tokenizer): boolean {
  let state = start;
  for (const token of by.encode(text)) {
    if (state.allowed?.[token] !== 1) return false;
    state = state.after(token);
  }
  return state.allowed?.[by.eos] === 1;
}

test("a grammar takes what the regular expression matches, and nothing else", () => {
  const texts = [
    "",
    "a",
    "ab",
    "abab",
    "b",
    "7",
    "42",
    "4.5",
    "-3",
    "x=1",
    "x = 12",
    "(a)",
    "aa",
    "aaaa",
    "\n",
    "]",
    "a-z",
    "é",
  ];
  for (const regex of [
    "a*",
    "(ab)+",
    "-?\\d+(\\.\\d+)?",
    "[a-z]\\s?=\\s?[0-9]{1,2}",
    "^(?:a|b)?$",
    "\\(.\\)",
    "a{2}|a{4,}",
    "[^a-z]",
    "[\\]a-]*z?",
    "\\x61\\u0062",
    "a{0,2}?",
    ".|\\n",
    "(a*)*b",
    "\\w\\W?\\w?",
  ]) {
    const state = grammarOf({ regex }, tokenizer);
    for (const text of texts.filter((text) => text !== "é"))
      assert.equal(
        takes(state, text),
        new RegExp(`^(?:${regex})$`).test(text),
        `${regex} on ${JSON.stringify(text)}`,
      );
  }
  const choices = grammarOf({ choices: ["yes", "no", "not"] }, tokenizer);
  assert.deepEqual(
    ["yes", "no", "not", "n", "yesno"].map((text) => takes(choices, text)),
    [true, true, true, false, false],
  );
  assert.equal(grammarOf({ regex: "a*" }, tokenizer), grammarOf({ regex: "a*" }, tokenizer));
});

test("what an automaton cannot follow is named with its place", () => {
  for (const [regex, message] of [
    ["(a", /character 3: a "\(" is not closed/],
    ["a)", /character 2: "\)" has no counterpart/],
    ["*a", /has nothing to repeat/],
    ["a(?=b)", /lookahead and lookbehind/],
    ["(a)\\1", /"\\1" is not supported/],
    ["[z-a]", /backwards/],
    ["[a", /"\[" is not closed/],
    ["a{3,2}", /counts backwards/],
    ["a$b", /may only be at the ends/],
    ["(a{900}){900}", /too large/],
  ] as const)
    assert.throws(() => grammarOf({ regex }, tokenizer), message, regex);
});

test("tokens of several characters are allowed where all of them are", () => {
  const pieces = ["", "<end>", "a", "ab", "abc", "b", "bc", " a", "c", "\ufffd", " "];
  const pieceTokenizer: Tokenizer & { special: ReadonlySet<number> } = {
    size: pieces.length,
    pad: 0,
    eos: 1,
    special: new Set([1]),
    encode: (text) => Int32Array.from(text, (character) => pieces.indexOf(character)),
    decode: (tokens) => Array.from(tokens, (token) => pieces[token] ?? "").join(""),
  };
  const start = grammarOf({ regex: "ab(c| a)" }, pieceTokenizer);
  const names = (state: GrammarState): string[] => pieces.filter((_, token) => state.allowed![token] === 1);
  assert.deepEqual(names(start), ["a", "ab", "abc"]);
  assert.deepEqual(names(start.after(2)), ["b", "bc"]);
  assert.deepEqual(names(start.after(3)), [" a", "c", " "]);
  assert.deepEqual(names(start.after(4)), ["<end>"]);
  assert.equal(start.after(2).after(6).allowed, start.after(4).allowed);
  assert.throws(() => start.after(5), /not allowed by the grammar/);
});

test("responses keep to a grammar, whatever the model would like; logp at T = 1 is the model's own", async () => {
  const policy = await open();
  stir(policy, 0.2);
  const { tensors } = policy.counters();
  const grammar = grammarOf({ regex: "[0-9]{2,4}\\+[0-9]+=" }, policy.tokenizer);
  for (const options of [
    {},
    { temperature: 0 },
    { top_p: 0.8 },
    { top_k: 3, temperature: 1.5 },
    { lanes: 3 },
  ]) {
    const samples = await collect(policy, prompts, { max_tokens: 30, grammar, ...options });
    for (const { tokens, finish, logp_old, logp_sampled } of samples) {
      const text = policy.tokenizer.decode(tokens);
      if (finish === "stop") assert.match(text, /^[0-9]{2,4}\+[0-9]+=$/);
      else assert.match(text, /^[0-9]{2,4}\+[0-9]*=?$/);
      assert.ok(logp_old.every((logp, i) => logp <= logp_sampled[i]! + 1e-4));
      if (finish === "stop") assert.ok(Math.abs(logp_sampled.at(-1)!) < 1e-5, "only the end is left");
    }
    if (!("temperature" in options)) assert.ok(samples.some(({ finish }) => finish === "stop"));
  }
  assert.equal(policy.counters().tensors, tensors);
  policy.close();
});

test("a grammar that the vocabulary cannot write says so", async () => {
  const policy = await open();
  assert.throws(() => grammarOf({ choices: ["é"] }, policy.tokenizer), /vocabulary cannot write any text/);
  // A way that only the missing character leads on is not taken at all.
  const grammar = grammarOf({ choices: ["aé", "abé", "b"] }, policy.tokenizer);
  const samples = await collect(policy, prompts, { grammar });
  for (const { tokens } of samples) assert.equal(policy.tokenizer.decode(tokens), "b");
  const nothing: GrammarState = { allowed: new Uint8Array(policy.tokenizer.size), after: () => nothing };
  await assert.rejects(collect(policy, prompts, { grammar: nothing }), /allows no token here/);
  policy.close();
});

test("biases move the draw and not the logp; a token of −∞ never comes; min_tokens keeps ends away", async () => {
  const policy = await open();
  stir(policy, 0.2);
  const { eos } = policy.tokenizer;
  const options = { max_tokens: 14 };
  const free = await collect(policy, prompts, options);
  const ended = await collect(policy, prompts, { ...options, logit_bias: new Map([[eos, 6]]) });
  assert.ok(
    ended.filter(({ finish }) => finish === "stop").length >
      free.filter(({ finish }) => finish === "stop").length,
  );
  const [token] = free[0]!.tokens;
  const banned = await collect(policy, prompts, { ...options, logit_bias: new Map([[token!, -Infinity]]) });
  assert.ok(banned.every(({ tokens }) => !tokens.includes(token!)));
  const same = ended.find(({ tokens }, i) => tokens[0] === free[i]!.tokens[0]);
  if (same !== undefined) assert.equal(same.logp_old[0], free[same.index]!.logp_old[0]);
  const late = await collect(policy, prompts, {
    ...options,
    min_tokens: 5,
    logit_bias: new Map([[eos, 12]]),
  });
  for (const { tokens, finish } of late) {
    assert.equal(finish, "stop");
    assert.equal(tokens.indexOf(eos), 5);
  }
  await assert.rejects(
    collect(policy, prompts, { logit_bias: new Map([[999, 1]]) }),
    /logit_bias of token 999/,
  );
  policy.close();
});

test("every token that ends a turn ends a response, and a prompt may have a limit of its own", async () => {
  const policy = await open();
  stir(policy, 0.2);
  const [z] = tokenizer.encode("z");
  const two: PolicyTokenizer = Object.assign(new CharacterTokenizer(), { eosAll: [tokenizer.eos, z!] });
  const ending = new LanguageModel({ ...policy.setup, tokenizer: two });
  ending.writeWeights(policy.readWeights());
  const options = { max_tokens: 14, logit_bias: new Map([[z!, 3]]) };
  const [one, both] = [await collect(policy, prompts, options), await collect(ending, prompts, options)];
  one.forEach(({ tokens }, index) => {
    const end = tokens.findIndex((token) => token === z || token === tokenizer.eos);
    const wanted = end < 0 ? tokens : tokens.slice(0, end + 1);
    assert.deepEqual(both[index]!.tokens.slice(0, wanted.length), wanted);
    assert.equal(both[index]!.finish, end < 0 ? "length" : "stop");
  });
  assert.ok(both.some(({ tokens }) => tokens.at(-1) === z));
  const limited = prompts.map((prompt, index) => ({ ...prompt, max_tokens: 1 + index }));
  const limits = await collect(policy, limited, { max_tokens: 9, min_tokens: 9 });
  assert.deepEqual(
    limits.map(({ tokens }) => tokens.length),
    prompts.map((_, index) => Math.min(9, 1 + index)),
  );
  policy.close();
});

test("stop texts before min_tokens do not end a response", async () => {
  const policy = await open();
  const force = new Map([[tokenizer.encode("z")[0]!, 50]]);
  const [early] = await collect(policy, prompts.slice(0, 1), { logit_bias: force, stop: ["zz"] });
  const [late] = await collect(policy, prompts.slice(0, 1), {
    logit_bias: force,
    stop: ["zz"],
    min_tokens: 7,
  });
  assert.equal(early!.tokens.length, 2);
  assert.equal(late!.tokens.length, 7);
  policy.close();
});

test("a temperature by token: each token is drawn at its own", async () => {
  const policy = await open();
  stir(policy, 0.2);
  const options = { max_tokens: 8, temperature: 1 };
  const hot = await collect(policy, prompts, options);
  const falling = await collect(policy, prompts, { ...options, temperature_at: (t) => (t < 3 ? 1 : 0) });
  falling.forEach(({ tokens, logp_old, logp_sampled }, index) => {
    assert.deepEqual(tokens.slice(0, 3), hot[index]!.tokens.slice(0, 3));
    assert.ok(largestDifference(logp_sampled.slice(0, 3), logp_old.slice(0, 3)) < 1e-5);
    for (const sampled of logp_sampled.slice(3))
      assert.ok(Math.abs(sampled) < 1e-4, "greedy from the fourth on");
  });
  const constant = await collect(policy, prompts, { ...options, temperature_at: () => 0.7 });
  const plain = await collect(policy, prompts, { ...options, temperature: 0.7 });
  constant.forEach((sample, index) => assert.deepEqual(sample, plain[index]));
  policy.close();
});
