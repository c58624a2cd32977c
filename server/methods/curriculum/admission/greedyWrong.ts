import { z } from "zod";
import { admission } from "../../../core/declaration.ts";
import { eachGroup, no, yes } from "./verdicts.ts";

export const greedyWrong = admission({
  name: "greedy_wrong",
  summary:
    "Answers every drawn task once greedily, before its group is generated; tasks that this solves do not train.",
  formula: "keep x where the greedy answer is no success",
  sources: ["The Reasoning Boundary Paradox: How Reinforcement Learning Constrains Language Models"],
  failing: () => ({
    kept: "trains on groups whose greedy answer is wrong, and so on every task that always fails",
  }),
  params: z.object({}),
  create: () => ({
    ...eachGroup(() => yes),
    screen: {
      samples: 1,
      temperature: 0,
      admit: ({ successes }) => (successes > 0 ? no("the greedy answer is right") : yes),
    },
  }),
});
