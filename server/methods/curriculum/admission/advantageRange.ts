import { z } from "zod";
import { admission, param } from "../../../core/declaration.ts";
import { eachGroup, no, yes } from "./verdicts.ts";
import { mean } from "../../../../shared/lib/mean.ts";

const rounded = (value: number): string => String(Math.round(value * 1000) / 1000);

export const advantageRange = admission({
  name: "advantage_range",
  summary: "Keeps groups whose mean absolute advantage lies in a range.",
  formula: "low ≤ mean_i |r_i − r̄| ≤ high: the mean absolute advantage before any scale",
  sources: ["Self-Evolving Curriculum for LLM Reasoning"],
  params: z.object({
    low: param(z.number().min(0).default(0.05), "Smallest that trains."),
    high: param(z.number().positive().optional(), "Largest that trains; default: no bound."),
  }),
  create: ({ low, high = Number.POSITIVE_INFINITY }) =>
    eachGroup(({ rewards }) => {
      const centre = mean(rewards);
      const size = mean(rewards.map((reward) => Math.abs(reward - centre)));
      return size >= low && size <= high
        ? yes
        : no(`mean absolute advantage ${rounded(size)} is ${size < low ? "below" : "above"} the range`);
    }),
});
