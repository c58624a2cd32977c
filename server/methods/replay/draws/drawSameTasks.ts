import { z } from "zod";
import { replayDraw } from "../../../core/declaration.ts";
import { unweighted, withoutReplacement } from "./drawing.ts";

export const drawSameTasks = replayDraw({
  name: "same_tasks",
  summary:
    "Draws only rollouts of tasks that this step draws too, so earlier solutions train with its fresh attempts.",
  sources: [
    "DeepSearch: Overcome the Bottleneck of Reinforcement Learning with Verifiable Rewards via Monte Carlo Tree Search",
  ],
  params: z.object({}),
  create: () => (kept, n, random, tasks) => {
    const those = [...kept.keys()].filter((index) => tasks.has(kept[index]!.task));
    return unweighted(withoutReplacement(those, n, random));
  },
});
