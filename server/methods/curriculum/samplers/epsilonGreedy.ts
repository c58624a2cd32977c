import { z } from "zod";
import { schedulable, valueAt } from "../../../core/schedule.ts";
import { sampler, param } from "../../../core/declaration.ts";

export const epsilonGreedy = sampler({
  name: "epsilon_greedy",
  summary:
    "Draws the arm of the largest estimate, and with probability ε any arm. Unknown arms count as the largest.",
  formula: "p(a) = ε/n + (1 − ε)[a = argmax_b Q(b)]",
  sources: ["Teacher-Student Curriculum Learning"],
  takes: ["estimate"],
  params: z.object({ epsilon: param(schedulable(z.number().min(0).max(1)).default(0.1), "ε.") }),
  create: ({ epsilon }) => ({
    probabilities: ({ estimates, open }, clock) => {
      const merits = estimates.map((q) => (Number.isNaN(q) ? Number.POSITIVE_INFINITY : q));
      let best = open.indexOf(1);
      for (let arm = 0; arm < merits.length; arm++)
        if (open[arm] === 1 && merits[arm]! > merits[best]!) best = arm;
      const now = valueAt(epsilon, clock);
      const each = now / open.reduce((n, is) => n + is, 0);
      return merits.map((_, arm) => each + (arm === best ? 1 - now : 0));
    },
  }),
});
