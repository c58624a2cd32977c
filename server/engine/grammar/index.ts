/**
 * Grammars over a tokenizer's vocabulary: a response has to be, as a whole, one that a regular expression matches, or
 * one of some texts. In every state the tokens are allowed whose text leads on to such a whole, and the end tokens where
 * it is reached. Tokens that are only a part of a character are never allowed, and no way is taken that only characters
 * without a token of their own would lead on: so there is always a token to come.
 */
import type { GrammarSpec } from "../../core/blocks/rollout.ts";
import { UserError } from "../../../shared/lib/errors.ts";
import type { GrammarState, Tokenizer } from "../../core/policy.ts";
import { endsOf } from "../../core/rows/ends.ts";
import { Automaton, type AutomatonState } from "../../lib/regex/automaton.ts";
import { literal, parseRegex, type Expression } from "../../lib/regex/regex.ts";
import { vocabularyOf, type TextNode, type Vocabulary } from "./vocabulary.ts";

const expressionOf = (spec: GrammarSpec): Expression =>
  "regex" in spec ? parseRegex(spec.regex) : { kind: "either", parts: spec.choices.map(literal) };

class TextGrammar {
  private readonly states = new Map<AutomatonState, GrammarProgress>();
  constructor(
    private readonly automaton: Automaton,
    private readonly vocabulary: Vocabulary,
    private readonly ends: readonly number[],
  ) {}
  get start(): GrammarState {
    return this.at(this.automaton.start);
  }
  private at(place: AutomatonState): GrammarProgress {
    const state = this.states.get(place) ?? new GrammarProgress(this, place);
    this.states.set(place, state);
    return state;
  }
  allowedAt(place: AutomatonState): Uint8Array {
    const allowed = new Uint8Array(this.vocabulary.size);
    const visit = (node: TextNode, at: AutomatonState): void => {
      for (const token of node.tokens) allowed[token] = 1;
      for (const [character, child] of node.children) {
        const next = this.automaton.step(at, character);
        if (next !== undefined) visit(child, next);
      }
    };
    visit(this.vocabulary.root, place);
    for (const end of this.ends) allowed[end] = place.accepting ? 1 : 0;
    return allowed;
  }
  advance(place: AutomatonState, token: number): GrammarProgress {
    const text = this.vocabulary.texts[token] ?? "";
    let at: AutomatonState | undefined = text === "" ? undefined : place;
    for (const character of text) at = at && this.automaton.step(at, character.codePointAt(0)!);
    if (at !== undefined) return this.at(at);
    throw new UserError(`Token ${token} (${JSON.stringify(text)}) is not allowed by the grammar here.`, {
      code: "grammar-token",
      action: "Continue a paused response with the grammar that it began with.",
    });
  }
}

class GrammarProgress implements GrammarState {
  private mask: Uint8Array | undefined;
  private readonly followers = new Map<number, GrammarState>();
  constructor(
    private readonly grammar: TextGrammar,
    private readonly place: AutomatonState,
  ) {}
  get allowed(): Uint8Array {
    this.mask ??= this.grammar.allowedAt(this.place);
    return this.mask;
  }
  after(token: number): GrammarState {
    const found = this.followers.get(token) ?? this.grammar.advance(this.place, token);
    this.followers.set(token, found);
    return found;
  }
}

function startOf(spec: GrammarSpec, tokenizer: Tokenizer): GrammarState {
  const vocabulary = vocabularyOf(tokenizer);
  const automaton = new Automaton(expressionOf(spec), vocabulary.characters);
  return new TextGrammar(automaton, vocabulary, endsOf(tokenizer)).start;
}

const known = new WeakMap<Tokenizer, Map<string, GrammarState>>();

/**
 * The state at the beginning of a response. Compiled once for a tokenizer.
 *
 * @throws UserError on an expression that cannot be followed, or that the vocabulary cannot write.
 */
export function grammarOf(spec: GrammarSpec, tokenizer: Tokenizer): GrammarState {
  const compiled = known.get(tokenizer) ?? new Map<string, GrammarState>();
  known.set(tokenizer, compiled);
  const key = JSON.stringify(spec);
  const found = compiled.get(key) ?? startOf(spec, tokenizer);
  compiled.set(key, found);
  return found;
}
