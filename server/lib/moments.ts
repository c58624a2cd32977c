/**
 * Weighted sums of values less one of them, over units with an advantage, in one pass. That one is at most √n standard
 * deviations from the mean, so the squares lose no more than n roundings.
 */
export class Moments {
  n = 0;
  sum = 0;
  squares = 0;
  /** Units that were looked at, also those without an advantage. */
  seen = 0;
  private first = Number.NaN;

  /** What the others are taken apart from: the first number that is proposed. */
  pivot(proposed: number): number {
    if (Number.isNaN(this.first)) this.first = proposed;
    return this.first;
  }

  /** Of a number of units: Σ w, Σ w (v − pivot) and Σ w (v − pivot)². */
  take(units: number, n: number, sum: number, squares: number): void {
    this.seen += units;
    this.n += n;
    this.sum += sum;
    this.squares += squares;
  }

  /** Of units [from, to). @param counts undefined: each counts once */
  add(values: Float64Array, counts: Int32Array | undefined, from: number, to: number): void {
    const pivot = this.first;
    let n = 0;
    let sum = 0;
    let squares = 0;
    for (let unit = from; unit < to; unit++) {
      const apart = values[unit]! - pivot;
      const weight = counts === undefined ? 1 : counts[unit]!;
      if (weight === 0 || apart !== apart) continue;
      n += weight;
      sum += weight * apart;
      squares += weight * apart * apart;
    }
    this.take(to - from, n, sum, squares);
  }

  get mean(): number {
    return this.first + this.sum / this.n;
  }
  /** Σ (value − mean)². */
  get spread(): number {
    return Math.max(0, this.squares - (this.sum / this.n) * this.sum);
  }
  /** Whether all values are the same. */
  get equal(): boolean {
    return this.squares === 0;
  }
}
