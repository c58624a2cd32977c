/** A run as it stood at one of its training steps: nothing later is in it. */
import type { VerdictFacts } from "./facts.ts";
import type { GoldFall } from "./gold.ts";
import type { Comparison } from "./heldOut.ts";
import { Trail, type Stretch } from "./trail.ts";

const empty = new Trail();

export class Moment {
  private readonly trails = new Map<string, Trail>();
  /** Steps by place. */
  private readonly steps: number[] = [];
  /** Held-out results so far, each against those before training. */
  readonly comparisons: Comparison[] = [];
  /** Of the last evaluation; null: no gold term fell. */
  goldFall: GoldFall | null = null;

  constructor(readonly facts: VerdictFacts) {}

  /** @param values of the metrics that are recorded so far; a metric that is not among them has no number */
  add(step: number, values: ReadonlyMap<string, number>): void {
    for (const name of values.keys())
      if (!this.trails.has(name)) this.trails.set(name, new Trail(this.steps.length));
    for (const [name, trail] of this.trails) trail.push(values.get(name) ?? Number.NaN);
    this.steps.push(step);
  }

  /** Training steps so far. */
  get count(): number {
    return this.steps.length;
  }
  /** The first training step. */
  get begin(): number {
    return this.steps[0] ?? 0;
  }
  trail(metric: string): Trail {
    return this.trails.get(metric) ?? empty;
  }
  /** Over the last `window` steps. */
  now(metric: string): Stretch {
    return this.trail(metric).last();
  }
  /** Over the first `window` steps of training. */
  start(metric: string): Stretch {
    return this.trail(metric).first();
  }
  get comparison(): Comparison | undefined {
    return this.comparisons.at(-1);
  }
  /** Held-out results are better than before training, beyond chance. */
  get gained(): boolean {
    return (this.comparison?.interval?.low ?? Number.NEGATIVE_INFINITY) > 0;
  }
  /** The step at a place. */
  stepAt(place: number): number {
    return this.steps[Math.max(0, Math.min(place, this.steps.length - 1))] ?? 0;
  }
  /** The step since which every stretch of `window` steps of a metric has satisfied a condition. */
  since(metric: string, holds: (stretch: Stretch) => boolean): number {
    return this.stepAt(this.trail(metric).sinceAll(holds));
  }
}
