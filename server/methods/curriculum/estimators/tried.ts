/** Success rates that are measured by rollouts that train nothing, a few arms at a time. */
import type { Saved } from "../../../core/basics.ts";
import { Column } from "../../../core/arms/column.ts";
import type { Observation, Probe } from "../../../core/slots/curriculum.ts";

export interface Tries {
  readonly samples: number;
  readonly temperature?: number | undefined;
  readonly at_once: number;
}

export class TriedRates {
  readonly rates = new Column(Number.NaN);
  /** 1: asked for. A task whose rollouts all failed to be scored is not asked again. */
  private readonly asked = new Column(0);
  /** Every arm below has been asked for. */
  private from = 0;

  constructor(private readonly how: Tries) {}

  /** The next arms, of those from 0 below `size`, that nobody has tried. */
  probe(size: number): Probe | undefined {
    const arms: number[] = [];
    for (; this.from < size && arms.length < this.how.at_once; this.from++)
      if (this.asked.get(this.from) === 0) arms.push(this.from);
    return this.of(arms);
  }
  of(arms: readonly number[]): Probe | undefined {
    if (arms.length === 0) return undefined;
    for (const arm of arms) this.asked.set(arm, 1);
    const { samples, temperature } = this.how;
    return { arms, samples, ...(temperature === undefined ? {} : { temperature }) };
  }
  /** They are asked for again. */
  forget(arms: readonly number[]): void {
    for (const arm of arms) {
      this.asked.set(arm, 0);
      this.from = Math.min(this.from, arm);
    }
  }
  /** Whether every arm below `size` has been asked for. */
  done(size: number): boolean {
    while (this.from < size && this.asked.get(this.from) !== 0) this.from++;
    return this.from >= size;
  }
  probed(seen: readonly Observation[]): void {
    for (const { arm, mean } of seen) this.rates.set(arm, mean);
  }

  save(): NonNullable<Saved["arrays"]> {
    return { rates: this.rates.saveCopy(), asked: this.asked.saveCopy() };
  }
  load(arrays: Saved["arrays"]): void {
    this.rates.load(arrays?.["rates"]);
    this.asked.load(arrays?.["asked"]);
    this.from = 0;
  }
}
