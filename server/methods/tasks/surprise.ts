/** How hard the next word of a text is to foresee, by counting which words follow which. */

const normal = (word: string): string => word.trim().toLowerCase();

/**
 * Entropy of the next word after a word, H = −Σ p log p in nats, of counts of pairs smoothed by the words' own
 * frequencies: p(w | v) = (n(v, w) + μ p(w)) / (n(v) + μ), with μ = 1. It replaces a model's entropy where none is
 * at hand: rare contexts are as uncertain as the language.
 */
export class Surprise {
  private readonly followers = new Map<string, Map<string, number>>();
  private readonly frequency = new Map<string, number>();
  private readonly known = new Map<string, number>();
  private readonly base: number;
  private readonly total: number;

  constructor(words: readonly string[]) {
    const plain = words.map(normal);
    this.total = plain.length;
    plain.forEach((word, i) => {
      this.frequency.set(word, (this.frequency.get(word) ?? 0) + 1);
      const next = plain[i + 1];
      if (next === undefined) return;
      const own = this.followers.get(word) ?? new Map<string, number>();
      this.followers.set(word, own.set(next, (own.get(next) ?? 0) + 1));
    });
    this.base = [...this.frequency.values()].reduce((sum, count) => sum + term(count / this.total), 0);
  }

  entropy(former: string): number {
    const word = normal(former);
    const known = this.known.get(word);
    if (known !== undefined) return known;
    const made = this.entropyOf(this.followers.get(word));
    this.known.set(word, made);
    return made;
  }

  private entropyOf(counts: ReadonlyMap<string, number> | undefined): number {
    if (counts === undefined) return this.base;
    const n = [...counts.values()].reduce((sum, count) => sum + count, 0);
    // Words that never follow have p = p(w) / (n + 1): their part of the sum is taken from that of all words.
    const share = 1 / (n + 1);
    let [seen, mass, entropy] = [0, 0, 0];
    for (const [word, count] of counts) {
      const prior = this.frequency.get(word)! / this.total;
      entropy += term((count + prior) * share);
      mass += prior;
      seen += term(prior);
    }
    return entropy + share * (this.base - seen) - (1 - mass) * share * Math.log(share);
  }
}

/** −p log p. */
const term = (p: number): number => (p === 0 ? 0 : -p * Math.log(p));

/** Each value's rank among all, in [0, 1): equal values share the middle of their ranks. */
export function quantilesOf(values: readonly number[]): number[] {
  const order = values.map((_, index) => index).sort((a, b) => values[a]! - values[b]! || a - b);
  const found = new Array<number>(values.length).fill(0);
  for (let from = 0; from < order.length;) {
    let to = from;
    while (to < order.length && values[order[to]!] === values[order[from]!]) to += 1;
    for (let i = from; i < to; i++) found[order[i]!] = (from + to - 1) / 2 / order.length;
    from = to;
  }
  return found;
}
