import { z } from "zod";
import { signal } from "../../../core/declaration.ts";
import { largest } from "../numbers.ts";
import { byGroup } from "./measured.ts";
import { mean } from "../../../../shared/lib/mean.ts";

export const bestMinusMean = signal({
  name: "best_minus_mean",
  summary:
    "How far the best rollout of a group is above the mean: what could be gained by always answering like it.",
  formula: "s = max_i r_i − mean_i r_i",
  sources: [
    "Scalable Reinforcement Post-Training Beyond Static Human Prompts: Evolving Alignment via Asymmetric Self-Play",
  ],
  params: z.object({}),
  create: () => byGroup(({ rewards }) => largest(rewards) - mean(rewards)),
});
