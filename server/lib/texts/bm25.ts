/** Ranking of short texts by the words of a query: Okapi BM25 with Lucene's inverse document frequency. */

/** Words in lower case: runs of letters and digits of any script. */
const wordsIn = (text: string): readonly string[] => text.toLowerCase().match(/[\p{L}\p{N}]+/gu) ?? [];

interface Posting {
  readonly text: number;
  readonly count: number;
}

interface Bm25Options {
  /** Saturation of a word's count. */
  readonly k1: number;
  /** How much long texts are held against their length, 0 to 1. */
  readonly b: number;
}

/**
 * score(q, d) = Σ_w idf(w) · f(w, d)·(k1 + 1) / (f(w, d) + k1·(1 − b + b·|d| / mean |d|)),
 * idf(w) = ln(1 + (N − n(w) + ½) / (n(w) + ½)), over the different words w of the query.
 */
export class Bm25 {
  private readonly postings = new Map<string, Posting[]>();
  private readonly lengths: number[] = [];
  private readonly mean: number;

  constructor(
    texts: readonly string[],
    private readonly options: Bm25Options,
  ) {
    for (const [text, content] of texts.entries()) {
      const counts = new Map<string, number>();
      const words = wordsIn(content);
      for (const word of words) counts.set(word, (counts.get(word) ?? 0) + 1);
      this.lengths.push(words.length);
      for (const [word, count] of counts) {
        const known = this.postings.get(word);
        if (known === undefined) this.postings.set(word, [{ text, count }]);
        else known.push({ text, count });
      }
    }
    this.mean = this.lengths.reduce((sum, length) => sum + length, 0) / Math.max(1, texts.length);
  }

  /** Numbers of the best texts with their scores, the best first; those without a word of the query are left out. */
  best(query: string, most: number): readonly { readonly text: number; readonly score: number }[] {
    const scores = new Map<number, number>();
    for (const word of new Set(wordsIn(query))) this.add(word, scores);
    return [...scores]
      .map(([text, score]) => ({ text, score }))
      .sort((one, other) => other.score - one.score || one.text - other.text)
      .slice(0, most);
  }

  private add(word: string, scores: Map<number, number>): void {
    const found = this.postings.get(word) ?? [];
    const { k1, b } = this.options;
    const idf = Math.log(1 + (this.lengths.length - found.length + 0.5) / (found.length + 0.5));
    for (const { text, count } of found) {
      const length = 1 - b + (b * this.lengths[text]!) / this.mean;
      scores.set(text, (scores.get(text) ?? 0) + (idf * count * (k1 + 1)) / (count + k1 * length));
    }
  }
}
