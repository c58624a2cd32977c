import { z } from "zod";
import { sampler, param } from "../../../core/declaration.ts";
import { normalCumulative, normalDensity } from "../../../lib/distributions.ts";
import { largest } from "../numbers.ts";
import { costOf, taking } from "../fast/top.ts";

export const expectedImprovement = sampler({
  name: "expected_improvement",
  aliases: ["ei"],
  summary: "Draws the arms with the largest expected improvement on the best known estimate.",
  formula: "EI(a) = (Q − Q* − ξ) Φ(z) + σ φ(z), z = (Q − Q* − ξ)/σ, Q* = max_b Q(b), σ the belief's spread",
  sources: ["Efficient Global Optimization of Expensive Black-Box Functions"],
  takes: ["estimate", "spread"],
  params: z.object({ margin: param(z.number().min(0).default(0), "ξ: larger looks further.") }),
  create: ({ margin }) =>
    taking(["estimate", "spread"], ({ estimates, spreads }) => {
      const best = largest(estimates);
      return estimates.map((q, of) => {
        const [lead, sigma] = [q - best - margin, spreads[of]!];
        if (sigma === 0) return costOf(Math.max(0, lead));
        return costOf(lead * normalCumulative(lead / sigma) + sigma * normalDensity(lead / sigma));
      });
    }),
});
