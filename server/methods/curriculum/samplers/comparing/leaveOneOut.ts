/** For uniformly drawn candidates: the chance that one arm is among them and all others are farther than it. */
export class LeaveOneOut {
  private readonly all: number;
  private readonly degree: number;
  /** m/N; for different candidates divided by the sum over all sets of m − 1 others, each counted as 1. */
  private readonly scale: number;

  /**
   * @param arms number of arms, by class
   * @param candidates number of candidates
   * @param once whether candidates are all different
   */
  constructor(
    private readonly arms: readonly number[],
    candidates: number,
    private readonly once: boolean,
  ) {
    this.all = arms.reduce((sum, n) => sum + n, 0);
    this.degree = candidates - 1;
    let sets = 1;
    // C(N − 1, m − 1) / N^(m − 1): the polynomials are in t/N, so that no coefficient is too large for a number.
    if (once) for (let i = 1; i < candidates; i++) sets *= (this.all - i) / (i * this.all);
    this.scale = candidates / this.all / sets;
  }

  /** @param left chance of an arm of each class to be farther */
  of(left: Float64Array): Float64Array {
    if (!this.once) {
      let mean = 0;
      this.arms.forEach((n, of) => (mean += (n * left[of]!) / this.all));
      return new Float64Array(left.length).fill(this.scale * mean ** this.degree);
    }
    const found = new Float64Array(left.length);
    const none = new Float64Array(this.degree + 1);
    none[0] = 1;
    this.divide(left, 0, left.length, none, found);
    return found;
  }

  /** ∏ (1 + left t) over all arms but one, for every one, by halving: nothing is subtracted, so no digits are lost. */
  private divide(
    left: Float64Array,
    from: number,
    to: number,
    rest: Float64Array,
    found: Float64Array,
  ): void {
    if (to - from === 1) {
      const own = rest.slice();
      this.multiply(own, left[from]!, this.arms[from]! - 1);
      found[from] = this.scale * own[this.degree]!;
      return;
    }
    const middle = (from + to) >> 1;
    const [first, second] = [rest.slice(), rest.slice()];
    for (let of = middle; of < to; of++) this.multiply(first, left[of]!, this.arms[of]!);
    for (let of = from; of < middle; of++) this.multiply(second, left[of]!, this.arms[of]!);
    this.divide(left, from, middle, first, found);
    this.divide(left, middle, to, second, found);
  }

  /** Multiplies by (1 + left t/N)^arms, up to `degree`. */
  private multiply(polynomial: Float64Array, left: number, arms: number): void {
    const { degree, all } = this;
    const x = left / all;
    if (arms <= degree) {
      for (let i = 0; i < arms; i++)
        for (let j = degree; j > 0; j--) polynomial[j]! += x * polynomial[j - 1]!;
      return;
    }
    const power = new Float64Array(degree + 1);
    power[0] = 1;
    for (let j = 1; j <= degree; j++) power[j] = (power[j - 1]! * x * (arms - j + 1)) / j;
    for (let j = degree; j >= 0; j--) {
      let sum = 0;
      for (let i = 0; i <= j; i++) sum += polynomial[i]! * power[j - i]!;
      polynomial[j] = sum;
    }
  }
}
