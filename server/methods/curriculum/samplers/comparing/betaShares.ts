/**
 * Chances where a value is drawn from each candidate's Beta posterior and the candidate nearest to a band is taken: order
 * statistics, by quadrature.
 */
import { GaussPanels, type Panel } from "./gaussPanels.ts";
import { LeaveOneOut } from "./leaveOneOut.ts";

/** A posterior, and how many arms have it. */
export interface Belief {
  readonly a: number;
  readonly b: number;
  readonly arms: number;
}

export interface Draw {
  /** The band: values in it cost nothing, others their distance. */
  readonly low: number;
  readonly high: number;
  /** Candidates that are compared; at most the number of arms where all must differ. */
  readonly candidates: number;
  /** Whether no arm is a candidate twice. */
  readonly once: boolean;
}

/** Limit of multiplications per call: about a fifth of a second. */
const work = 1e8;
const [leastShape, mostCandidates] = [0.05, 128];

const deviation = ({ a, b }: Belief): number => Math.sqrt((a * b) / ((a + b) ** 2 * (a + b + 1)));
const logit = (x: number): number => Math.log(x / (1 - x));
const inside = (x: number): boolean => x > 0 && x < 1;

/**
 * Ends of the panels of log-odds: at the ends of the band, denser where the mirror image of the band's other side meets 0
 * or 1 (the integrand has a power there), and narrow enough for every posterior.
 */
function edges(beliefs: readonly Belief[], { low, high, candidates }: Draw): number[] {
  const from = -30 / Math.min(...beliefs.map(({ a }) => a));
  const to = 30 / Math.min(...beliefs.map(({ b }) => b));
  const fixed = [low, high].filter(inside).map(logit);
  for (const end of [low + high, low + high - 1].filter(inside).map(logit)) {
    fixed.push(end);
    for (let k = 0; k < 30; k++) fixed.push(end - 2 ** -k, end + 2 ** -k);
  }
  const stops = [...new Set(fixed.filter((z) => z > from && z < to))].sort((x, y) => x - y);
  const finer = Math.min(1, 12 / candidates);
  const peaks = beliefs.map((one) => ({
    z: Math.log(one.a / one.b),
    width: Math.sqrt(1 / one.a + 1 / one.b),
    mirrored: low + high - one.a / (one.a + one.b),
    spread: deviation(one),
  }));
  const stepAt = (z: number): number => {
    const [x, slope] = [1 / (1 + Math.exp(-z)), 1 / (2 + Math.exp(z) + Math.exp(-z))];
    let step = 1.5;
    for (const { z: peak, width, mirrored, spread } of peaks) {
      if (Math.abs(z - peak) < 10 * width + 1.5) step = Math.min(step, 3 * width);
      if (Math.abs(x - mirrored) < 10 * spread + 1.5 * slope) step = Math.min(step, (3 * spread) / slope);
    }
    return step * finer;
  };
  const found = [from];
  for (const stop of [...stops, to])
    for (let z = found.at(-1)!; z < stop;) {
      z = Math.min(stop, z + stepAt(z));
      found.push(stop - z < 1e-12 * (1 + Math.abs(stop)) ? stop : z);
      z = found.at(-1)!;
    }
  return found;
}

/** The chance of one arm of each posterior to be taken; undefined: it would take too long to compute. */
export function betaShares(beliefs: readonly Belief[], draw: Draw): Float64Array | undefined {
  if (draw.candidates > mostCandidates) return undefined;
  if (beliefs.some(({ a, b }) => !(a >= leastShape && b >= leastShape) || a + b > 1e8)) return undefined;
  const borders = edges(beliefs, draw);
  const each = draw.once ? draw.candidates * (2 + Math.log2(beliefs.length)) : 20;
  if (borders.length * GaussPanels.nodes * beliefs.length * each > work) return undefined;
  return new Shares(beliefs, draw, new GaussPanels(borders, beliefs)).all();
}

class Shares {
  private readonly found: Float64Array;
  private readonly others: LeaveOneOut;

  constructor(
    private readonly beliefs: readonly Belief[],
    private readonly draw: Draw,
    private readonly panels: GaussPanels,
  ) {
    this.found = new Float64Array(beliefs.length);
    this.others = new LeaveOneOut(
      beliefs.map(({ arms }) => arms),
      draw.candidates,
      draw.once,
    );
  }

  all(): Float64Array {
    this.within();
    for (const panel of this.panels.all) if (this.counts(panel)) this.outside(panel);
    return this.found;
  }

  /** Whether a panel lies outside the band and has a noticeable mass. */
  private counts({ from, to, masses }: Panel): boolean {
    const { low, high } = this.draw;
    const middle = 1 / (1 + Math.exp(-(from + to) / 2));
    if (middle > low && middle < high) return false;
    return this.beliefs.some(({ arms }, of) => arms * masses[of]! > 1e-13);
  }

  /** Values in the band cost the same: ties are broken as if each had a uniform number of its own. */
  private within(): void {
    const { low, high, candidates } = this.draw;
    if (!(high > low)) return;
    const [above, below] = [this.panels.cumulative(high), this.panels.cumulative(low)];
    const mass = above.map((to, of) => to - below[of]!);
    const parts = 1 + Math.floor(candidates / 24);
    for (let part = 0; part < parts; part++)
      GaussPanels.points.forEach((t, i) => {
        const u = (part + (1 + t) / 2) / parts;
        this.take(
          mass.map((share) => 1 - share * u),
          mass,
          GaussPanels.weights[i]! / (2 * parts),
        );
      });
  }

  private outside(panel: Panel): void {
    const { low, high } = this.draw;
    GaussPanels.points.forEach((t, i) => {
      const z = (panel.from + panel.to + t * (panel.to - panel.from)) / 2;
      const x = 1 / (1 + Math.exp(-z));
      const own = this.panels.cumulativeAt(panel, i);
      // Values equally far from the band on its other side.
      const mirrored = this.panels.cumulative(low + high - x);
      const sign = x < low + (high - low) / 2 ? 1 : -1;
      const left = own.map((here, of) => Math.min(1, Math.max(0, 1 - sign * (mirrored[of]! - here))));
      this.take(
        left,
        this.panels.densityAt(panel, i),
        (GaussPanels.weights[i]! * (panel.to - panel.from)) / 2,
      );
    });
  }

  /** Adds a node of the quadrature: an arm is there, and all other candidates are farther. */
  private take(left: Float64Array, density: Float64Array, weight: number): void {
    const farther = this.others.of(left);
    for (let of = 0; of < farther.length; of++) this.found[of]! += weight * density[of]! * farther[of]!;
  }
}
