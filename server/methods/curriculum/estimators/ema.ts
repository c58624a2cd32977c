import { z } from "zod";
import { estimator, param } from "../../../core/declaration.ts";
import type { Saved } from "../../../core/basics.ts";
import { Column } from "../column.ts";
import type { FastEstimates } from "../../../core/slots/arms.ts";
import type { Estimator, EstimatorExtensions, Observation } from "../../../core/slots/curriculum.ts";

class Ema implements Estimator, EstimatorExtensions {
  /** As of the arm's last observation, and the step of that. */
  private readonly values: Column;
  private readonly since = new Column(0);
  private steps = 0;
  readonly fast: FastEstimates;

  constructor(
    private readonly alpha: number,
    private readonly decays: boolean,
    initial: number | null,
  ) {
    this.values = new Column(initial ?? Number.NaN);
    this.fast = { changes: decays ? [this.values, this.since] : "observed" };
  }

  observe({ arm, mean }: Observation): void {
    const before = this.estimate(arm);
    this.values.set(arm, Number.isNaN(before) ? mean : (1 - this.alpha) * before + this.alpha * mean);
    // An arm does not decay in the step that observes it.
    if (this.decays) this.since.set(arm, this.steps + 1);
  }

  estimate(arm: number): number {
    const missed = this.decays ? Math.max(0, this.steps - this.since.get(arm)) : 0;
    return this.values.get(arm) * (1 - this.alpha) ** missed;
  }

  endStep(): void {
    this.steps += 1;
  }

  save(): Saved {
    const { values, since } = this;
    return { json: this.steps, arrays: { values: values.save(), since: since.save() } };
  }

  load({ json, arrays }: Saved): void {
    this.steps = Number(json);
    this.values.load(arrays?.["values"]);
    this.since.load(arrays?.["since"]);
  }
}

export const ema = estimator({
  name: "ema",
  summary: "Exponential moving average that starts at `initial`; arms that are not drawn keep their value.",
  formula: "Q ← (1 − α) Q + α s, once per arm and step, s the mean over all the arm's rollouts of that step",
  sources: ["Self-Evolving Curriculum for LLM Reasoning"],
  gives: ["estimate"],
  params: z.object({
    alpha: param(z.number().gt(0).max(1).default(0.5), "Weight of the new observation."),
    decay_unsampled: param(
      z.boolean().default(false),
      "Pull arms that were not drawn towards 0, as a released copy of the code does; the paper does not.",
    ),
    initial: param(
      z.number().nullable().default(0),
      "The estimate of an arm before its first observation; null: unknown, and the first observation is taken as it is.",
    ),
  }),
  create: ({ alpha, decay_unsampled, initial }) => new Ema(alpha, decay_unsampled, initial),
});
