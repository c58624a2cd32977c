/**
 * Learning a byte-level byte-pair vocabulary (Sennrich et al. 2016; bytes as in GPT-2): the pair of neighbours that occurs
 * most often becomes a token, again and again. Text is cut by GPT-2's pattern first, and pairs never cross a cut.
 */
import { GPT2_PATTERN } from "./alike.ts";
import { byteCharacters } from "./byteCharacters.ts";
import { bytePairFiles } from "./bytePairFiles.ts";
import { HuggingFaceTokenizer } from "./huggingFace.ts";

const SPECIAL = ["pad", "bos", "eos"].length;
/** pad, bos, eos and every byte: no text is without tokens. */
export const LEAST_VOCABULARY = SPECIAL + 256;

interface Word {
  /** Ids of its present pieces. */
  pieces: number[];
  readonly count: number;
}

/** A pair of ids as one number; ids stay below 2²⁴. */
const RADIX = 2 ** 24;
const pairOf = (left: number, right: number): number => left * RADIX + right;

/** How often each word of the texts occurs, as bytes; in the order of their first occurrence. */
function wordsOf(texts: Iterable<string>): Word[] {
  const pattern = new RegExp(
    GPT2_PATTERN.replaceAll(String.raw`\s`, String.raw`\p{White_Space}`).replaceAll(
      String.raw`\S`,
      String.raw`\P{White_Space}`,
    ),
    "gu",
  );
  const counts = new Map<string, number>();
  for (const text of texts)
    for (const [word] of text.matchAll(pattern)) counts.set(word, (counts.get(word) ?? 0) + 1);
  return Array.from(counts, ([word, count]) => ({ pieces: [...Buffer.from(word)], count }));
}

/** Pairs with how often they occur and in which words, kept up to date while words change. */
class Pairs {
  private readonly counts = new Map<number, number>();
  private readonly places = new Map<number, Set<Word>>();

  constructor(words: readonly Word[]) {
    for (const word of words) this.add(word, 1);
  }
  private add(word: Word, sign: 1 | -1): void {
    for (let i = 1; i < word.pieces.length; i++) {
      const pair = pairOf(word.pieces[i - 1]!, word.pieces[i]!);
      this.counts.set(pair, (this.counts.get(pair) ?? 0) + sign * word.count);
      const places = this.places.get(pair) ?? new Set();
      this.places.set(pair, places.add(word));
    }
  }
  /** The most frequent pair; of equals the one with the lowest ids. undefined where none occurs twice. */
  best(): number | undefined {
    let [best, most] = [undefined as number | undefined, 1];
    for (const [pair, count] of this.counts)
      if (count > most || (count === most && best !== undefined && pair < best)) [best, most] = [pair, count];
    return best;
  }
  /** Makes `pair` one piece `id` wherever it occurs, from the left. */
  merge(pair: number, id: number): void {
    for (const word of this.places.get(pair) ?? []) {
      this.add(word, -1);
      word.pieces = merged(word.pieces, pair, id);
      this.add(word, 1);
    }
    this.counts.delete(pair);
    this.places.delete(pair);
  }
}
function merged(pieces: readonly number[], pair: number, id: number): number[] {
  const result: number[] = [];
  for (let i = 0; i < pieces.length; i++) {
    const joins = i + 1 < pieces.length && pairOf(pieces[i]!, pieces[i + 1]!) === pair;
    result.push(joins ? id : pieces[i]!);
    if (joins) i++;
  }
  return result;
}

/**
 * A vocabulary of at most `vocabulary` tokens, special ones and bytes included; fewer where no pair occurs twice any more.
 * Equal texts give equal vocabularies.
 *
 * @param vocabulary - from `LEAST_VOCABULARY` on
 */
export function trainBytePairs(
  texts: Iterable<string>,
  vocabulary: number,
  name: string,
): HuggingFaceTokenizer {
  const tokens = [...byteCharacters];
  const merges: [string, string][] = [];
  const pairs = new Pairs(wordsOf(texts));
  while (SPECIAL + tokens.length < vocabulary) {
    const pair = pairs.best();
    if (pair === undefined) break;
    const [left, right] = [tokens[Math.floor(pair / RADIX)]!, tokens[pair % RADIX]!];
    pairs.merge(pair, tokens.length);
    merges.push([left, right]);
    tokens.push(left + right);
  }
  const files = bytePairFiles(tokens, merges);
  return new HuggingFaceTokenizer({
    tokenizer: files["tokenizer.json"]!,
    config: files["tokenizer_config.json"]!,
    generation: files["generation_config.json"]!,
    name,
    file: name,
  });
}
