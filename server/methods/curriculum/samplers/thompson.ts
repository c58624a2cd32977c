import { z } from "zod";
import { schedulable, valueAt } from "../../../core/schedule.ts";
import { sampler, param } from "../../../core/declaration.ts";
import type { Random } from "../../../lib/random.ts";
import type { Clock } from "../../../core/basics.ts";
import type { ArmPool, FastSampler } from "../../../core/slots/fastArms.ts";
import { cheapest, someOpen } from "./comparing/candidates.ts";
import { candidateShares, type Band } from "./comparing/candidateShares.ts";

export const thompson = sampler({
  name: "thompson",
  aliases: ["thompson_nearest"],
  summary:
    "Draws a success rate from the posterior of each of a few candidates, and takes those whose drawn rate is nearest to a target.",
  formula: "pool·n candidates, γ̂ ~ posterior of each; the n of least (γ̂ − γ*)²",
  sources: ["Can Prompt Difficulty be Online Predicted for Accelerating RL Finetuning of Reasoning Models?"],
  takes: ["posterior"],
  params: z.object({
    target: param(schedulable(z.number()).default(0.5), "γ*, the success rate that teaches most."),
    pool: param(
      z.number().min(1).default(8),
      "Candidates for each arm that is drawn; 8 to 16 in the source.",
    ),
  }),
  create: ({ target, pool }): FastSampler => {
    const draw: FastSampler["draw"] = (arms, n, random, clock) => {
      const aim = valueAt(target, clock);
      const candidates = someOpen(arms, Math.ceil(pool * n), random.fork("candidates"));
      const cost = Float64Array.from(
        candidates,
        (arm, i) => (sampled(arms, arm, random.fork("posterior", i)) - aim) ** 2,
      );
      return cheapest(candidates, cost, n);
    };
    const band = (clock: Clock): Band => ({ low: valueAt(target, clock), high: valueAt(target, clock) });
    return { draw, ...candidateShares({ draw, pool, band }) };
  },
});

/** Without a posterior, which is an error of the config, the estimate takes its place. */
const sampled = (arms: ArmPool, arm: number, random: Random): number =>
  arms.posterior?.draw(arm, random) ?? arms.estimate(arm);
