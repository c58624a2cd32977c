/** Weights and their sum. Drawing in proportion, and changing a weight, take logarithmic time. */
export class SumTree {
  /** A heap: node i is the sum of 2i and 2i + 1; leaves start at `leaves`. The sums depend on the weights alone, not on their history. */
  private readonly sums: Float64Array;
  private readonly leaves: number;

  constructor(weights: Float64Array) {
    this.leaves = 2 ** Math.ceil(Math.log2(Math.max(1, weights.length)));
    this.sums = new Float64Array(2 * this.leaves);
    this.sums.set(weights, this.leaves);
    for (let node = this.leaves - 1; node > 0; node--)
      this.sums[node] = this.sums[2 * node]! + this.sums[2 * node + 1]!;
  }

  get total(): number {
    return this.sums[1]!;
  }

  set(at: number, weight: number): void {
    let node = this.leaves + at;
    this.sums[node] = weight;
    for (node >>>= 1; node > 0; node >>>= 1)
      this.sums[node] = this.sums[2 * node]! + this.sums[2 * node + 1]!;
  }

  /**
   * The index on whose share a number falls; never one of weight 0 while there are others.
   * @param left from 0 to below `total`
   */
  find(left: number): number {
    let node = 1;
    while (node < this.leaves) {
      node *= 2;
      const own = this.sums[node]!;
      // A remainder of rounding belongs to the last weight.
      if (left >= own && this.sums[node + 1]! > 0) {
        left -= own;
        node += 1;
      }
    }
    return node - this.leaves;
  }
}
