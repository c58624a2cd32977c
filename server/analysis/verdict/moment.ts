/** A run as it stood at one of its training steps: nothing later is in it. */
import type { VerdictFacts } from "./facts.ts";
import type { GoldFall } from "./gold.ts";
import type { Comparison } from "./heldOut.ts";
import { Trail, window, type Stretch } from "./trail.ts";

const empty = new Trail();

export class Moment {
  private readonly trails = new Map<string, Trail>();
  /** Steps by place. */
  private readonly steps: number[] = [];
  /** Held-out results so far, each against those before training. */
  readonly comparisons: Comparison[] = [];
  /** Of the last evaluation; null: no gold term fell. */
  goldFall: GoldFall | null = null;

  /** Of metrics that must be finite: whether the last `window` numbers were not, and since which step none was. */
  private readonly strict = new Map(
    ["update/loss", "update/grad_norm"].map((name) => [
      name,
      { broken: new Array<boolean>(), since: null as number | null },
    ]),
  );

  /** @param facts grow with the names of what another trainer recorded */
  constructor(public facts: VerdictFacts) {}

  /** @param values of the metrics that are recorded so far; a metric that is not among them has no number */
  add(step: number, values: ReadonlyMap<string, number>): void {
    for (const name of values.keys())
      if (!this.trails.has(name)) this.trails.set(name, new Trail(this.steps.length));
    for (const [name, trail] of this.trails) trail.push(values.get(name) ?? Number.NaN);
    for (const [name, seen] of this.strict) {
      const value = values.get(name);
      // What was not recorded is neither.
      if (value === undefined) continue;
      const broken = !Number.isFinite(value);
      seen.since = broken ? (seen.since ?? step) : null;
      seen.broken.push(broken);
      if (seen.broken.length > window) seen.broken.shift();
    }
    this.steps.push(step);
  }

  /** The step since which a metric is no finite number, in half of its last numbers or more; null: it is one. */
  brokenSince(metric: string): number | null {
    const seen = this.strict.get(metric);
    if (seen === undefined || seen.broken.filter(Boolean).length < window / 2) return null;
    return seen.since ?? this.stepAt(this.count - window);
  }

  /** The metric that says how often the task is solved; where another trainer logs none, what comes nearest. */
  get solved(): string {
    const rate = "groups/success_rate";
    const { imported, terms, success } = this.facts;
    if (!imported || this.trail(rate).length > 0) return rate;
    const term = [...success].find((one) => this.trail(`reward/${one}`).length > 0);
    return terms.length > 1 && term !== undefined ? `reward/${term}` : "reward/total";
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
  /** As `start`; another trainer's run may have changed within these steps already, and nothing else tells its start. */
  begins(metric: string): Stretch {
    return this.facts.imported ? this.trail(metric).firstMoving() : this.start(metric);
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
