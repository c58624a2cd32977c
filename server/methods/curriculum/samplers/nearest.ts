import { z } from "zod";
import { schedulable, valueAt } from "../../../core/schedule.ts";
import { sampler, param } from "../../../core/declaration.ts";
import type { Random } from "../../../lib/random.ts";
import type { Clock } from "../../../core/basics.ts";
import type { ArmPool, FastSampler } from "../../../core/slots/fastArms.ts";
import { cheapest, someOpen } from "./comparing/candidates.ts";
import { candidateShares, type Band } from "./comparing/candidateShares.ts";

export const nearest = sampler({
  name: "nearest",
  summary: "Compares a few candidates and draws those whose estimate is nearest to a target.",
  formula: "pool·n candidates, drawn uniformly; the n of least |V − τ|",
  sources: ["Prompt Curriculum Learning for Efficient LLM Post-Training"],
  takes: ["estimate"],
  params: z.object({
    target: param(schedulable(z.number()).default(0.5), "τ."),
    pool: param(z.number().min(1).default(4), "k: candidates for each arm that is drawn."),
  }),
  create: ({ target, pool }): FastSampler => {
    const candidates = (arms: ArmPool, n: number, random: Random): number[] =>
      someOpen(arms, Math.ceil(pool * n), random);
    const draw: FastSampler["draw"] = (arms, n, random, clock, named) => {
      const aim = valueAt(target, clock);
      const among = named.length > 0 ? named : candidates(arms, n, random.fork("candidates"));
      // An unknown arm costs nothing.
      const cost = Float64Array.from(among, (arm) => {
        const value = arms.estimate(arm);
        return Number.isNaN(value) ? 0 : Math.abs(value - aim);
      });
      return cheapest(among, cost, n);
    };
    const band = (clock: Clock): Band => ({ low: valueAt(target, clock), high: valueAt(target, clock) });
    return { candidates, draw, ...candidateShares({ draw, pool, band, unknown: 0, imagined: false }) };
  },
});
