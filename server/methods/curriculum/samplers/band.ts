import { z } from "zod";
import { UserError } from "../../../../shared/lib/errors.ts";
import { sampler, param } from "../../../core/declaration.ts";
import type { Random } from "../../../lib/random.ts";
import type { ArmPool, FastSampler } from "../../../core/slots/fastArms.ts";
import { cheapest, someOpen } from "./comparing/candidates.ts";
import { candidateShares } from "./comparing/candidateShares.ts";

export const bandSampler = sampler({
  name: "band",
  aliases: ["threshold"],
  summary:
    "Compares a few candidates and draws those whose estimate lies in a band; if too few do, those nearest to it.",
  formula: "pool·n candidates; those with low ≤ Q ≤ high, or low ≤ γ̂ ≤ high with γ̂ drawn from the posterior",
  sources: [
    "Can Prompt Difficulty be Online Predicted for Accelerating RL Finetuning of Reasoning Models?",
    "WebRL: Training LLM Web Agents via Self-Evolving Online Curriculum Reinforcement Learning",
  ],
  takes: ["estimate"],
  params: z.object({
    low: param(z.number().default(0.3), "Smallest estimate; 0.05 of the critic's in WebRL."),
    high: param(z.number().default(0.7), "Largest estimate; 0.75 in WebRL."),
    pool: param(z.number().min(1).default(8), "Candidates for each arm that is drawn."),
    imagined: param(
      z.boolean().default(true),
      "Compare values drawn from the posterior where the estimator has one, else the estimates.",
    ),
  }),
  create: ({ low, high, pool, imagined }): FastSampler => {
    if (low >= high)
      throw new UserError(`band: low (${low}) must be below high (${high})`, {
        code: "band-empty",
        action: "Widen the band: no arm could lie in it.",
      });
    const candidates = (arms: ArmPool, n: number, random: Random): number[] =>
      someOpen(arms, Math.ceil(pool * n), random);
    const draw: FastSampler["draw"] = (arms, n, random, _clock, named) => {
      const among = named.length > 0 ? named : candidates(arms, n, random.fork("candidates"));
      const cost = Float64Array.from(among, (arm, i) => {
        const value = imagined
          ? (arms.posterior?.draw(arm, random.fork("posterior", i)) ?? arms.estimate(arm))
          : arms.estimate(arm);
        return Number.isNaN(value) ? 0 : Math.max(0, low - value, value - high);
      });
      return cheapest(among, cost, n);
    };
    const shares = candidateShares({ draw, pool, band: () => ({ low, high }), unknown: 0, imagined });
    return { candidates, draw, ...shares };
  },
});
