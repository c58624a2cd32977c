import { z } from "zod";
import { admission } from "../config/declaration.ts";
import type { Group } from "../seams.ts";
import { no, unscored, yes } from "./verdicts.ts";

export const nonzeroVariance = admission({
  name: "nonzero_variance",
  summary: "Leaves out groups whose rewards are all equal: their advantages are zero.",
  formula: "max r ≠ min r",
  sources: ["DAPO: An Open-Source LLM Reinforcement Learning System at Scale", "verl filter_groups"],
  params: z.object({}),
  create:
    () =>
    ({ rewards }: Group) => {
      const first = rewards[0];
      if (first === undefined) return unscored;
      return rewards.some((reward) => reward !== first)
        ? yes
        : no(`all ${rewards.length} rewards are ${first}`);
    },
});
