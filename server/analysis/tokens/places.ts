/** Where in a response each recorded token's text is. Tokens are decoded, never made again from text. */
import type { RolloutRow } from "../../../shared/rollouts/rollouts.ts";
import { onLines } from "../../../shared/rollouts/turnTexts.ts";
import type { Tokenizer } from "../../core/policy.ts";

/** Token t wrote the UTF-16 units [starts[t], ends[t]). */
export interface Places {
  readonly starts: Int32Array;
  readonly ends: Int32Array;
}

/** What a decoder writes for bytes that make no character yet. */
const unfinished = "\ufffd";
/** Tokens that are taken together: each may end a character and begin another. */
const mostShared = 32;
/** Where a decoding differs from the text, the next token is looked for within so many characters. */
const nearby = 64;
/** Of the tokens with text, the share that must be found. */
const leastFound = 0.9;

/** Decodes tokens one by one: each after a letter, so that no space at its beginning is lost. */
class Pieces {
  private readonly known = new Map<number, string>();
  private readonly anchor: readonly number[];
  private readonly skipped: number;

  constructor(private readonly tokenizer: Pick<Tokenizer, "encode" | "decode">) {
    this.anchor = [...tokenizer.encode("a")];
    this.skipped = tokenizer.decode(this.anchor).length;
  }

  text(tokens: readonly number[]): string {
    return this.tokenizer.decode([...this.anchor, ...tokens]).slice(this.skipped);
  }
  one(token: number): string {
    const known = this.known.get(token);
    if (known !== undefined) return known;
    const text = this.text([token]);
    this.known.set(token, text);
    return text;
  }
}

/** Tokens [from, to) that write one piece of text together. */
interface Piece {
  readonly from: number;
  readonly to: number;
  readonly text: string;
}

function* piecesOf(pieces: Pieces, tokens: Int32Array, from: number, to: number): Generator<Piece> {
  for (let at = from; at < to;) {
    let [end, text] = [at + 1, pieces.one(tokens[at]!)];
    for (let more = at + 2; text.endsWith(unfinished) && more <= Math.min(to, at + mostShared); more++) {
      const together = pieces.text([...tokens.subarray(at, more)]);
      if (!together.endsWith(unfinished)) [end, text] = [more, together];
    }
    yield { from: at, to: end, text };
    at = end;
  }
}

/** What is said in one go: tokens [from, to), and its text at `offset` of the response. */
interface Passage {
  readonly from: number;
  readonly to: number;
  readonly text: string;
  readonly offset: number;
}

function passagesOf(
  tokens: Int32Array,
  { response = "", turns }: Pick<RolloutRow, "response" | "turns">,
): Passage[] {
  if (turns === undefined || turns.length === 0 || turns.some(({ text }) => text === undefined))
    return [{ from: 0, to: tokens.length, text: response, offset: 0 }];
  const texts = onLines(turns.map(({ text = "" }) => text));
  let said = 0;
  return turns.map(({ start, end, text = "" }, i) => {
    said += texts[i]!.length;
    return { from: start, to: Math.min(end, tokens.length), text, offset: said - text.length };
  });
}

/** undefined: what the tokens say is another text than the response. */
export function placesOf(
  tokens: Int32Array,
  row: Pick<RolloutRow, "response" | "turns">,
  tokenizer: Pick<Tokenizer, "encode" | "decode">,
): Places | undefined {
  const pieces = new Pieces(tokenizer);
  const places = { starts: new Int32Array(tokens.length), ends: new Int32Array(tokens.length) };
  let [found, wanted] = [0, 0];
  for (const passage of passagesOf(tokens, row)) {
    const all = [...piecesOf(pieces, tokens, passage.from, passage.to)];
    const whole = all.map(({ text }) => text).join("");
    const shift = whole.indexOf(passage.text);
    wanted += passage.text.length;
    found += shift >= 0 ? shifted(places, passage, all, shift) : lookedFor(places, passage, all);
  }
  return found >= wanted * leastFound ? places : undefined;
}

/** The usual case: the text is what the tokens say, perhaps without something around it. @returns characters found */
function shifted(
  { starts, ends }: Places,
  { text, offset }: Passage,
  all: readonly Piece[],
  shift: number,
): number {
  const inside = (at: number): number => offset + Math.min(text.length, Math.max(0, at - shift));
  let at = 0;
  for (const piece of all) {
    starts.fill(inside(at), piece.from, piece.to);
    at += piece.text.length;
    ends.fill(inside(at), piece.from, piece.to);
  }
  return text.length;
}

/** Piece by piece, over what is between them. @returns characters found */
function lookedFor({ starts, ends }: Places, { text, offset }: Passage, all: readonly Piece[]): number {
  let [at, found] = [0, 0];
  for (const piece of all) {
    const size = piece.text.length;
    const next = text.startsWith(piece.text, at)
      ? at
      : piece.text.trim() === ""
        ? -1
        : text.slice(at, at + nearby + size).indexOf(piece.text) + at;
    const isFound = next >= at;
    if (isFound) [at, found] = [next + size, found + size];
    starts.fill(offset + (isFound ? next : at), piece.from, piece.to);
    ends.fill(offset + at, piece.from, piece.to);
  }
  return found;
}

/** Without a tokenizer tokens have a place only where each is a character; the token that ends a response has no text. */
export function characterPlaces(tokens: number, response: string): Places | undefined {
  const characters = [...response];
  if (characters.length !== tokens && characters.length !== tokens - 1) return undefined;
  const places = { starts: new Int32Array(tokens), ends: new Int32Array(tokens) };
  let at = 0;
  for (let token = 0; token < tokens; token++) {
    places.starts[token] = at;
    at += characters[token]?.length ?? 0;
    places.ends[token] = at;
  }
  return places;
}
