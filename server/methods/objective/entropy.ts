/** The entropy bonus: which tokens it acts on, how it is averaged, and a coefficient that keeps entropy near a target. */
import { z } from "zod";
import { schedulable } from "../../core/declaration.ts";
import type { Saved, Stateful } from "../../core/seams.ts";

export const entropySchema = z.strictObject({
  coefficient: schedulable(z.number()).describe("Factor on the bonus, which is subtracted from the loss."),
  share: z
    .number()
    .gt(0)
    .max(1)
    .default(1)
    .describe("The bonus acts on this share of the trained tokens: those of highest entropy."),
  low: z.number().optional().describe("Tokens of lower entropy have no bonus, in nats; default: no bound."),
  high: z.number().optional().describe("Tokens of higher entropy have no bonus, in nats; default: no bound."),
  aggregate: z
    .enum(["objective", "token_mean"])
    .default("objective")
    .describe("Averaged as the objective is, or as the mean over the tokens it acts on (TRL)."),
  adaptive: z
    .strictObject({
      target: z
        .number()
        .nonnegative()
        .default(0.2)
        .describe("Entropy, in nats, above which there is no bonus."),
      delta: z
        .number()
        .positive()
        .default(0.005)
        .describe("What each update adds to the coefficient below the target, and takes off above."),
      least: z.number().default(0).describe("Lower bound of the coefficient."),
      most: z.number().default(1).describe("Upper bound of the coefficient."),
    })
    .optional()
    .describe("The coefficient follows the measured entropy, from `coefficient` on (TRL)."),
});
export type EntropyOptions = z.output<typeof entropySchema>;

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
