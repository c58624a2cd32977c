import { z } from "zod";
import { admission } from "../../../core/declaration.ts";
import { eachGroup, no, yes } from "./verdicts.ts";

export const nonzeroVariance = admission({
  name: "nonzero_variance",
  summary: "Leaves out groups whose rewards are all equal: their advantages are zero.",
  formula: "max r ≠ min r",
  sources: ["DAPO: An Open-Source LLM Reinforcement Learning System at Scale", "verl filter_groups"],
  failing: () => "left_out",
  params: z.object({}),
  create: () =>
    eachGroup(({ rewards }) =>
      rewards.some((reward) => reward !== rewards[0])
        ? yes
        : no(`all ${rewards.length} rewards are ${rewards[0]}`),
    ),
});
