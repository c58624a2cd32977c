/** Success rates measured by rollouts that train nothing, a few arms at a time. */
import { z } from "zod";
import { param } from "../../../core/declaration.ts";
import type { Saved } from "../../../core/basics.ts";
import { Column } from "../column.ts";
import type { ArmSet } from "../../../core/slots/arms.ts";
import type { Observation, PilotRollouts, Pilots } from "../../../core/slots/curriculum.ts";

/** Parameters of estimators that measure arms with rollouts of their own. */
export const measuring = {
  samples: param(z.number().int().positive().default(8), "Rollouts of each arm."),
  temperature: param(
    z.number().min(0).optional(),
    "Of these rollouts; 0: greedy, where one rollout is enough. Default: the run's own.",
  ),
  at_once: param(z.number().int().positive().default(256), "Arms that are measured together."),
};
export type Measuring = z.output<z.ZodObject<typeof measuring>>;

export class MeasuredRates implements Pilots<ArmSet, Observation> {
  readonly rates = new Column(Number.NaN);
  /** 1: requested. A task whose rollouts all failed to be scored is not requested again. */
  private readonly requested = new Column(0);
  /** All arms below have been requested. */
  private from = 0;

  constructor(private readonly how: Measuring) {}

  /** Pilot rollouts of the next arms below `size` that have not been requested. */
  next({ size }: Pick<ArmSet, "size">): PilotRollouts | undefined {
    const arms: number[] = [];
    for (; this.from < size && arms.length < this.how.at_once; this.from++)
      if (this.requested.get(this.from) === 0) arms.push(this.from);
    return this.pilotsOf(arms);
  }
  private pilotsOf(arms: readonly number[]): PilotRollouts | undefined {
    if (arms.length === 0) return undefined;
    for (const arm of arms) this.requested.set(arm, 1);
    const { samples, temperature } = this.how;
    return { arms, samples, ...(temperature === undefined ? {} : { temperature }) };
  }
  /** Requests these arms again. */
  forget(arms: readonly number[]): void {
    for (const arm of arms) {
      this.requested.set(arm, 0);
      this.from = Math.min(this.from, arm);
    }
  }
  /** Whether all arms below `size` have been requested. */
  done(size: number): boolean {
    while (this.from < size && this.requested.get(this.from) !== 0) this.from++;
    return this.from >= size;
  }
  observe(observations: readonly Observation[]): void {
    for (const { arm, mean } of observations) this.rates.set(arm, mean);
  }

  save(): NonNullable<Saved["arrays"]> {
    return { rates: this.rates.saveCopy(), asked: this.requested.saveCopy() };
  }
  load(arrays: Saved["arrays"]): void {
    this.rates.load(arrays?.["rates"]);
    this.requested.load(arrays?.["asked"]);
    this.from = 0;
  }
}
