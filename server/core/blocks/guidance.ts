/** The keys of `guidance`. */
import { z } from "zod";
import { choice, map, value, whole } from "./kinds.ts";

export const guidance = map(
  {
    trigger: choice("guidance_trigger", "Which rollouts get help.", { default: "none" }),
    source: choice(
      "guidance_source",
      "Where the help comes from, e.g. the task's solution, a hint or a teacher.",
      { default: "solution" },
    ),
    amount: choice("guidance_amount", "How much help a rollout gets, and in how many rounds.", {
      default: "fixed",
    }),
    ratio: choice("guidance_ratio", "How the importance ratio of helped rollouts is computed.", {
      default: "same_context",
    }),
    context: value(
      z.enum(["keep", "strip"]),
      "keep: helped rollouts train conditioned on the prompt that they were generated from; strip: conditioned on the task's own prompt, without the help.",
      { default: "keep" },
    ),
    place: value(
      z.enum(["replace", "append"]),
      "replace: helped rollouts replace those that the trigger chose; append: they join the group.",
      { default: "replace" },
    ),
    trains: value(
      z.enum(["auto", "written", "given", "all"]),
      "Which tokens of a helped rollout train, before masks. written: generated tokens; given: prefilled tokens; all: both. auto: generated tokens, and all tokens of a rollout that another model or person wrote to its end.",
      { default: "auto" },
    ),
    rollouts: value(whole(1), "Most helped rollouts of a group. Default: as many as the trigger chooses."),
    given_advantage: value(
      z.enum(["joint", "own"]),
      "What helped rollouts are compared with. joint: all rollouts of their group; prefilled tokens take their rollout's advantage. own: only those that continue the same prefilled text, as rollouts without help are compared with each other; a rollout alone keeps its reward. Prefilled tokens then take their rollout's advantage minus the mean reward of the rollouts without help, divided by how many rollouts continue them.",
      { default: "joint" },
    ),
    enter: value(
      z.enum(["all", "successes"]),
      "Which helped rollouts enter the group: all, or those that succeed.",
      { default: "all" },
    ),
  },
  "Help for rollouts: when it comes, what it is, how much, and how it trains.",
  "trigger",
);
