import { z } from "zod";
import { schedulable, valueAt } from "../../../core/schedule.ts";
import { sampler, param } from "../../../core/declaration.ts";
import type { FastSampler } from "../../../core/slots/fastArms.ts";
import { CountedArms } from "../fast/countedArms.ts";
import { independent } from "../fast/independent.ts";

/** √(2 ln(N + 1)/(n + 1)). */
const bonus = (rollouts: number, all: number): number => Math.sqrt((2 * Math.log(all + 1)) / (rollouts + 1));

/**
 * The next higher of the temperatures for which sums are kept, 4 % apart, so that a schedule reuses sums for several
 * steps. It depends on the temperature alone, so a resumed run has the same sums.
 */
const atOrAbove = (tau: number): number => Math.max(tau, 2 ** (Math.ceil(16 * Math.log2(tau)) / 16));

export const ucbSoftmax = sampler({
  name: "ucb_softmax",
  aliases: ["ucb"],
  summary:
    "A softmax over upper confidence bounds: an arm with few rollouts gains while the others get more.",
  formula: "p(j) ∝ exp((Q_j + c √(2 ln(N + 1)/(n_j + 1)))/τ); n_j and N = Σ n_j count all rollouts so far",
  sources: ["DUMP: Automated Distribution-Level Curriculum Learning for RL-based LLM Post-training"],
  takes: ["estimate"],
  params: z.object({
    temperature: param(schedulable(z.number().positive()).default(0.1), "τ."),
    exploration: param(schedulable(z.number().min(0)).default(1), "c, the weight of the bonus."),
  }),
  create: ({ temperature, exploration }): FastSampler => {
    const byClass = independent(
      ["estimate", "rollouts"],
      ({ estimates, rollouts, totals }, [tau = 1, c = 1]) => {
        // An arm without an estimate has no rollouts: its bonus alone decides.
        const bounds = estimates.map(
          (q, of) => (Number.isNaN(q) ? 0 : q) + c * bonus(rollouts[of]!, totals.rollouts),
        );
        return { values: bounds, temperature: tau };
      },
      (clock) => [valueAt(temperature, clock), valueAt(exploration, clock)],
    );
    let counted: CountedArms | undefined;
    return {
      ...byClass,
      draw: (pool, n, random, clock, candidates) => {
        const tau = valueAt(temperature, clock);
        if (!pool.once || pool.changed === undefined || tau === 0)
          return byClass.draw(pool, n, random, clock, candidates);
        const kept = typeof temperature === "number" ? tau : atOrAbove(tau);
        if (counted?.tau !== kept) counted = new CountedArms(kept);
        const c = valueAt(exploration, clock);
        const all = pool.totals.rollouts;
        return counted.draw(pool, n, (rollouts) => c * bonus(rollouts, all), random, tau);
      },
    };
  },
});
