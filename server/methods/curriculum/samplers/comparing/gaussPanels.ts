/** Beta distributions over panels of log-odds: densities and cumulative functions by Gauss-Legendre quadrature. */

const n = 16;

/** Legendre polynomials P₀ … Pₙ₊₁ at t. */
function legendre(t: number): number[] {
  const p = [1, t];
  for (let k = 1; k <= n; k++) p.push(((2 * k + 1) * t * p[k]! - k * p[k - 1]!) / (k + 1));
  return p;
}

/** Roots of Pₙ by Newton's method, and their weights. */
const rule = Array.from({ length: n }, (_, i) => {
  let t = Math.cos((Math.PI * (n - i - 0.25)) / (n + 0.5));
  const slope = (): number => (n * (t * legendre(t)[n]! - legendre(t)[n - 1]!)) / (t * t - 1);
  for (let step = 0; step < 8; step++) t -= legendre(t)[n]! / slope();
  return { t, weight: 2 / ((1 - t * t) * slope() ** 2) };
});
const atPoints = rule.map(({ t }) => legendre(t));

/** The weight of each node in the integral from −1 to t of the interpolating polynomial. */
function partial(t: number): Float64Array {
  const p = legendre(t);
  return Float64Array.from(rule, ({ weight }, j) => {
    let sum = t + 1;
    for (let k = 1; k < n; k++) sum += atPoints[j]![k]! * (p[k + 1]! - p[k - 1]!);
    return (weight * sum) / 2;
  });
}
const partials = rule.map(({ t }) => partial(t));

interface Shapes {
  readonly a: number;
  readonly b: number;
}

export interface Panel {
  readonly from: number;
  readonly to: number;
  /** Densities of log-odds, one row a distribution. */
  readonly densities: Float64Array;
  /** The mass of each below the panel, and in it. */
  readonly below: Float64Array;
  readonly masses: Float64Array;
}

export class GaussPanels {
  static readonly nodes = n;
  static readonly points: readonly number[] = rule.map(({ t }) => t);
  static readonly weights: readonly number[] = rule.map(({ weight }) => weight);

  readonly all: readonly Panel[];
  private readonly size: number;

  constructor(
    private readonly borders: readonly number[],
    shapes: readonly Shapes[],
  ) {
    this.size = shapes.length;
    const below = new Float64Array(this.size);
    const panels = borders.slice(1).map((to, i) => {
      const panel = panelOf(borders[i]!, to, shapes, below.slice());
      panel.masses.forEach((mass, of) => (below[of]! += mass));
      return panel;
    });
    // So far densities are relative to their largest; now each distribution gets mass 1.
    for (const { densities, below: before, masses } of panels)
      for (let of = 0; of < this.size; of++) {
        before[of]! /= below[of]!;
        masses[of]! /= below[of]!;
        for (let i = 0; i < n; i++) densities[of * n + i]! /= below[of]!;
      }
    this.all = panels;
  }

  densityAt({ densities }: Panel, i: number): Float64Array {
    return Float64Array.from({ length: this.size }, (_, of) => densities[of * n + i]!);
  }
  cumulativeAt(panel: Panel, i: number): Float64Array {
    return this.integrals(panel, partials[i]!);
  }
  /** The mass of each distribution below a number. */
  cumulative(x: number): Float64Array {
    const z = Math.log(x / (1 - x));
    if (!(x > 0) || z <= this.borders[0]!) return new Float64Array(this.size);
    if (!(x < 1) || z >= this.borders.at(-1)!) return new Float64Array(this.size).fill(1);
    let [low, high] = [0, this.all.length - 1];
    while (low < high) {
      const middle = (low + high + 1) >> 1;
      if (this.borders[middle]! <= z) low = middle;
      else high = middle - 1;
    }
    const panel = this.all[low]!;
    return this.integrals(panel, partial((2 * z - panel.from - panel.to) / (panel.to - panel.from)));
  }

  private integrals({ from, to, densities, below }: Panel, row: Float64Array): Float64Array {
    const half = (to - from) / 2;
    const found = below.slice();
    for (let of = 0; of < found.length; of++) {
      let sum = 0;
      for (let i = 0; i < n; i++) sum += row[i]! * densities[of * n + i]!;
      found[of]! += half * sum;
    }
    return found;
  }
}

function panelOf(from: number, to: number, shapes: readonly Shapes[], below: Float64Array): Panel {
  const densities = new Float64Array(shapes.length * n);
  const masses = new Float64Array(shapes.length);
  const tops = shapes.map(({ a, b }) => a * Math.log(a / (a + b)) + b * Math.log(b / (a + b)));
  rule.forEach(({ t, weight }, i) => {
    const z = (from + to + t * (to - from)) / 2;
    const [hit, miss] = [-softplus(-z), -softplus(z)];
    shapes.forEach(({ a, b }, of) => {
      const density = Math.exp(a * hit + b * miss - tops[of]!);
      densities[of * n + i] = density;
      masses[of]! += (weight * density * (to - from)) / 2;
    });
  });
  return { from, to, densities, below, masses };
}

/** ln(1 + eᶻ). */
const softplus = (z: number): number => (z > 0 ? z + Math.log1p(Math.exp(-z)) : Math.log1p(Math.exp(z)));
