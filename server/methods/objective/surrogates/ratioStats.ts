/** What one pass over the ratios finds, over trained tokens. */
export class RatioStats {
  trained = 0;
  sum = 0;
  squares = 0;
  least = Number.POSITIVE_INFINITY;
  greatest = Number.NEGATIVE_INFINITY;
  /** Σ (ρ − 1 − log ρ): k3 of KL(anchor ‖ policy). */
  k3 = 0;

  /** Of one row. A loop of its own: sums next to the exponential would be moved out of its way at every token. */
  add(weights: Float64Array, log: Float64Array, ratio: Float64Array, from: number, to: number): void {
    let trained = 0;
    let sum = 0;
    let squares = 0;
    let k3 = 0;
    let least = Number.POSITIVE_INFINITY;
    let greatest = Number.NEGATIVE_INFINITY;
    for (let i = from; i < to; i++) {
      if (weights[i] === 0) continue;
      const rho = ratio[i]!;
      trained += 1;
      sum += rho;
      squares += rho * rho;
      k3 += rho - 1 - log[i]!;
      if (rho < least) least = rho;
      if (rho > greatest) greatest = rho;
    }
    this.trained += trained;
    this.sum += sum;
    this.squares += squares;
    this.k3 += k3;
    this.least = Math.min(this.least, least);
    this.greatest = Math.max(this.greatest, greatest);
  }

  /** Of a row whose tokens all train. */
  addAll(log: Float64Array, ratio: Float64Array, from: number, to: number): void {
    let sum = 0;
    let squares = 0;
    let k3 = 0;
    let least = Number.POSITIVE_INFINITY;
    let greatest = Number.NEGATIVE_INFINITY;
    for (let i = from; i < to; i++) {
      const rho = ratio[i]!;
      sum += rho;
      squares += rho * rho;
      k3 += rho - 1 - log[i]!;
      if (rho < least) least = rho;
      if (rho > greatest) greatest = rho;
    }
    this.trained += to - from;
    this.sum += sum;
    this.squares += squares;
    this.k3 += k3;
    this.least = Math.min(this.least, least);
    this.greatest = Math.max(this.greatest, greatest);
  }

  metrics(): Record<string, number> {
    if (this.trained === 0) return {};
    return {
      "update/ratio_mean": this.sum / this.trained,
      "update/ratio_min": this.least,
      "update/ratio_max": this.greatest,
      "update/ess": this.squares > 0 ? (this.sum / this.squares) * (this.sum / this.trained) : 0,
      "update/anchor_kl": this.k3 / this.trained,
    };
  }
}
