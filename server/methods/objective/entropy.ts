/** The entropy bonus: which tokens it acts on, how it is averaged, and a coefficient that keeps entropy near a target. */
import type { EntropyOptions } from "../../core/blocks/objective.ts";
import { z } from "zod";
import type { Saved, Stateful } from "../../core/basics.ts";

const savedSchema = z.object({ value: z.number(), last: z.number().nullable() });

/** Moves by a fixed step once an update; acts only while the entropy last measured is not above the target. */
export class AdaptiveEntropy implements Stateful {
  private value: number;
  /** undefined: nothing was measured, and nothing acts. */
  private last: number | undefined;
  private measured: number | undefined;

  constructor(
    initial: number,
    private readonly options: NonNullable<EntropyOptions["adaptive"]>,
  ) {
    this.value = initial;
  }

  get coefficient(): number {
    return this.last !== undefined && this.last <= this.options.target ? this.value : 0;
  }
  measure(entropy: number): void {
    if (Number.isFinite(entropy)) this.measured = entropy;
  }
  /** Once an optimiser step. */
  advance(): void {
    if (this.measured === undefined) return;
    const { target, delta, least, most } = this.options;
    this.last = this.measured;
    this.value =
      this.last <= target ? Math.min(most, this.value + delta) : Math.max(least, this.value - delta);
    this.measured = undefined;
  }

  save(): Saved {
    return { json: { value: this.value, last: this.last ?? null } };
  }
  load({ json }: Saved): void {
    const { value, last } = savedSchema.parse(json);
    this.value = value;
    this.last = last ?? undefined;
  }
}
