import { z } from "zod";
import { schedulable, valueAt } from "../../../core/schedule.ts";
import { sampler } from "../../../core/declaration.ts";
import { CountedArms } from "./countedArms.ts";
import { independent } from "./independent.ts";

/** √(2 ln(N + 1)/(n + 1)). */
const bonus = (seen: number, allSeen: number): number => Math.sqrt((2 * Math.log(allSeen + 1)) / (seen + 1));

/**
 * The next of the temperatures for which sums are kept, 4 % apart: a schedule changes every weight in its own way, and
 * sums that are near enough to be drawn from last for several steps. Of the temperature alone, so that a resumed run has the same.
 */
const atOrAbove = (tau: number): number => Math.max(tau, 2 ** (Math.ceil(16 * Math.log2(tau)) / 16));

export const ucbSoftmax = sampler({
  name: "ucb_softmax",
  aliases: ["ucb"],
  summary: "A softmax over upper confidence bounds: what is little seen gains as everything else is seen.",
  formula: "p(j) ∝ exp((Q_j + c √(2 ln(N + 1)/(n_j + 1)))/τ); n_j and N = Σ n_j count all rollouts so far",
  sources: ["DUMP: Automated Distribution-Level Curriculum Learning for RL-based LLM Post-training"],
  takes: ["estimate"],
  params: z.object({
    temperature: schedulable(z.number().positive()).default(0.1).describe("τ."),
    exploration: schedulable(z.number().min(0)).default(1).describe("c, the weight of the bonus."),
  }),
  create: ({ temperature, exploration }) => {
    const byClass = independent(
      ["value", "seen"],
      ({ value, seen, allSeen }, [tau = 1, c = 1]) => {
        // An arm without an estimate has been seen 0 times: its bonus alone speaks for it.
        const bounds = value.map((q, of) => (Number.isNaN(q) ? 0 : q) + c * bonus(seen[of]!, allSeen));
        return { values: bounds, temperature: tau };
      },
      (clock) => [valueAt(temperature, clock), valueAt(exploration, clock)],
    );
    let counted: CountedArms | undefined;
    return {
      ...byClass,
      draw: (known, n, random, clock, candidates) => {
        const { once, changed, totals } = known;
        const tau = valueAt(temperature, clock);
        if (!once || changed === undefined || totals === undefined || tau === 0)
          return byClass.draw(known, n, random, clock, candidates);
        const kept = typeof temperature === "number" ? tau : atOrAbove(tau);
        if (counted?.tau !== kept) counted = new CountedArms(kept);
        const c = valueAt(exploration, clock);
        return counted.draw(known, n, (seen) => c * bonus(seen, totals.seen), random, tau);
      },
    };
  },
});
