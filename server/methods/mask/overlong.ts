import { z } from "zod";
import { mask } from "../../core/declaration.ts";
import { ofRows } from "./rows.ts";

export const overlong = mask({
  name: "overlong",
  aliases: ["mask_truncated_completions", "overlong_filtering"],
  summary:
    "Rollouts that were truncated at the length limit do not train; their rewards still count for their groups.",
  formula: "mask_t = 0 for every t of a truncated rollout",
  sources: [
    "DAPO: An Open-Source LLM Reinforcement Learning System at Scale",
    "Scaling LLM Multi-turn RL with End-to-end Summarization-based Context Management",
  ],
  params: z.object({}),
  create: () => ofRows(({ records }, row) => records[row]!.finish !== "length"),
});
