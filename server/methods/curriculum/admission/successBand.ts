import { z } from "zod";
import { UserError } from "../../../../shared/lib/errors.ts";
import { admission, param } from "../../../core/declaration.ts";
import { eachGroup, no, yes } from "./verdicts.ts";

const share = (value: number): string => String(Math.round(value * 1000) / 1000);

export const successBand = admission({
  name: "success_band",
  summary:
    "Keeps groups whose success rate lies in a band; both ends belong to it unless `inclusive: false`.",
  formula:
    "low ≤ p̂ ≤ high (inclusive) or low < p̂ < high; DAPO's dynamic sampling is low 0, high 1, exclusive",
  sources: [
    "Online Difficulty Filtering for Reasoning Oriented Reinforcement Learning",
    "DAPO: An Open-Source LLM Reinforcement Learning System at Scale",
  ],
  failing: ({ low, inclusive }) => (low > 0 || !inclusive ? "left_out" : undefined),
  params: z.object({
    low: param(z.number().min(0).max(1).default(0.2), "Smallest success rate that trains."),
    high: param(z.number().min(0).max(1).default(0.8), "Largest success rate that trains."),
    inclusive: param(z.boolean().default(true), "Whether a group exactly at an end is kept."),
  }),
  create: ({ low, high, inclusive }) => {
    if (low >= high)
      throw new UserError(`success_band: low (${low}) must be below high (${high})`, {
        action: "Widen the band: no group could be admitted.",
        code: "band-empty",
      });
    return eachGroup(({ rewards, successes }) => {
      const rate = successes / rewards.length;
      const inside = inclusive ? rate >= low && rate <= high : rate > low && rate < high;
      return inside
        ? yes
        : no(
            `success rate ${share(rate)} is ${rate <= low ? "below" : "above"} the band ${share(low)} to ${share(high)}${inclusive ? "" : " (ends left out)"}`,
          );
    });
  },
});
