/** The texts of a tokenizer's tokens, as a tree of their characters. */
import type { Tokenizer } from "../../core/policy.ts";

export interface TextNode {
  readonly children: Map<number, TextNode>;
  /** Tokens whose text ends here. */
  readonly tokens: number[];
}
export interface Vocabulary {
  readonly size: number;
  readonly root: TextNode;
  /** By token; empty for tokens without text, special ones, and those that are a part of a character. */
  readonly texts: readonly string[];
  /** Characters that are tokens by themselves, ascending. */
  readonly characters: readonly number[];
}

const REPLACEMENT = "\ufffd";
const node = (): TextNode => ({ children: new Map(), tokens: [] });

/** Decoded after another token, since the first of a text may lose the space it begins with. */
function textsOf(tokenizer: Tokenizer & { readonly special?: ReadonlySet<number> }): string[] {
  const [anchor] = tokenizer.encode("a").slice(-1);
  const front = anchor === undefined ? [] : [anchor];
  const before = tokenizer.decode(front);
  return Array.from({ length: tokenizer.size }, (_, token) => {
    if (tokenizer.special?.has(token) === true) return "";
    const text = tokenizer.decode([...front, token]);
    return text.startsWith(before) && !text.includes(REPLACEMENT) ? text.slice(before.length) : "";
  });
}

const known = new WeakMap<Tokenizer, Vocabulary>();

export function vocabularyOf(tokenizer: Tokenizer): Vocabulary {
  const found = known.get(tokenizer);
  if (found !== undefined) return found;
  const texts = textsOf(tokenizer);
  const root = node();
  texts.forEach((text, token) => {
    if (text === "") return;
    let at = root;
    for (const character of text) {
      const code = character.codePointAt(0)!;
      const next = at.children.get(code) ?? node();
      at.children.set(code, next);
      at = next;
    }
    at.tokens.push(token);
  });
  const characters = [...root.children]
    .flatMap(([character, { tokens }]) => (tokens.length > 0 ? [character] : []))
    .sort((a, b) => a - b);
  const vocabulary = { size: tokenizer.size, root, texts, characters };
  known.set(tokenizer, vocabulary);
  return vocabulary;
}
