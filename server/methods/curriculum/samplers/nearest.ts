import { z } from "zod";
import { schedulable, valueAt } from "../../../core/schedule.ts";
import { sampler } from "../../../core/declaration.ts";
import type { Random } from "../../../lib/random.ts";
import type { Clock } from "../../../core/basics.ts";
import type { Known, Sampler } from "../../../core/slots/curriculum.ts";
import { cheapest, someOpen } from "./mixtures/candidates.ts";
import { candidateShares, type Band } from "./mixtures/candidateShares.ts";
import { valueOf } from "./columns.ts";

export const nearest = sampler({
  name: "nearest",
  summary: "Of some candidates those whose estimate is nearest a target.",
  formula: "pool·n candidates, drawn alike; the n of least |V − τ|",
  sources: ["Prompt Curriculum Learning for Efficient LLM Post-Training"],
  takes: ["estimate"],
  params: z.object({
    target: schedulable(z.number()).default(0.5).describe("τ."),
    pool: z.number().min(1).default(4).describe("k: candidates for each arm that is drawn."),
  }),
  create: ({ target, pool }) => {
    const candidates = (known: Known, n: number, random: Random): number[] =>
      someOpen(known, Math.ceil(pool * n), random);
    const draw: Sampler["draw"] = (known, n, random, clock, named) => {
      const aim = valueAt(target, clock);
      const among = named.length > 0 ? named : candidates(known, n, random.fork("candidates"));
      // Of what nothing is known nothing speaks against it.
      const cost = Float64Array.from(among, (arm) => {
        const value = valueOf(known, arm);
        return Number.isNaN(value) ? 0 : Math.abs(value - aim);
      });
      return cheapest(among, cost, n);
    };
    const band = (clock: Clock): Band => ({ low: valueAt(target, clock), high: valueAt(target, clock) });
    return { candidates, draw, ...candidateShares({ draw, pool, band, unknown: 0, imagined: false }) };
  },
});
