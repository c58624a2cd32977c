import { z } from "zod";
import { sampler, schedulable, valueAt } from "../../config/declaration.ts";
import { softmaxWeights } from "./boltzmann.ts";
import { CountedArms } from "./countedArms.ts";
import { independent } from "./independent.ts";

/** √(2 ln(N + 1)/(n + 1)). */
const bonus = (seen: number, allSeen: number): number => Math.sqrt((2 * Math.log(allSeen + 1)) / (seen + 1));

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
        return softmaxWeights(bounds, tau);
      },
      (clock) => [valueAt(temperature, clock), valueAt(exploration, clock)],
    );
    // A temperature that changes with the steps changes every weight in its own way.
    if (typeof temperature !== "number") return byClass;
    const counted = new CountedArms(temperature);
    return {
      ...byClass,
      draw: (known, n, random, clock, candidates) => {
        const { once, changed, totals } = known;
        if (!once || changed === undefined || totals === undefined)
          return byClass.draw(known, n, random, clock, candidates);
        const c = valueAt(exploration, clock);
        return counted.draw(known, n, (seen) => c * bonus(seen, totals.seen), random);
      },
    };
  },
});
