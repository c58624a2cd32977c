import { z } from "zod";
import { signal, param } from "../../../core/declaration.ts";
import { outcomes } from "./measured.ts";

export const targetDistance = signal({
  name: "target_distance",
  aliases: ["value_distance"],
  summary: "How near an arm's success rate is to a target.",
  formula: "observed: successes; score −|p − τ|",
  sources: ["Prompt Curriculum Learning for Efficient LLM Post-Training"],
  gives: ["rate", "by_rollout"],
  params: z.object({ target: param(z.number().min(0).max(1).default(0.5), "τ.") }),
  create: ({ target }) => ({ measure: outcomes, score: (p) => -Math.abs(p - target) }),
});
