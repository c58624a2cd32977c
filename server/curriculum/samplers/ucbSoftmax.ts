import { z } from "zod";
import { sampler, schedulable, valueAt } from "../../config/declaration.ts";
import { softmaxWeights } from "./boltzmann.ts";
import { independent } from "./independent.ts";

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
  create: ({ temperature, exploration }) =>
    independent(
      ["value", "seen"],
      ({ value, seen, allSeen }, [tau = 1, c = 1]) => {
        // An arm without an estimate has been seen 0 times: its bonus alone speaks for it.
        const bounds = value.map(
          (q, of) => (Number.isNaN(q) ? 0 : q) + c * Math.sqrt((2 * Math.log(allSeen + 1)) / (seen[of]! + 1)),
        );
        return softmaxWeights(bounds, tau);
      },
      (clock) => [valueAt(temperature, clock), valueAt(exploration, clock)],
    ),
});
