/** The keys of `guidance`. */
import { z } from "zod";
import { choice, map, value, whole } from "./kinds.ts";

export const guidance = map(
  {
    trigger: choice("guidance_trigger", "Which rollouts are helped.", { default: "none" }),
    source: choice("guidance_source", "What they are helped with.", { default: "solution" }),
    amount: choice("guidance_amount", "How much of it they get, and in how many rounds.", {
      default: "fixed",
    }),
    ratio: choice("guidance_ratio", "What the ratio of helped rollouts is against.", {
      default: "same_context",
    }),
    context: value(
      z.enum(["keep", "strip"]),
      "keep: helped rollouts train behind the prompt that they were written behind; strip: behind the task's own, without the help.",
      { default: "keep" },
    ),
    place: value(
      z.enum(["replace", "append"]),
      "replace: helped rollouts take the places of those chosen by the trigger; append: they join the group.",
      { default: "replace" },
    ),
    trains: value(
      z.enum(["auto", "written", "given", "all"]),
      "Which tokens of a helped rollout train, before masks: those the policy wrote, those that were given, or all. auto: written ones, and all of a rollout that somebody else wrote to its end.",
      { default: "auto" },
    ),
    rollouts: value(
      whole(1),
      "Helped rollouts of a group, at most; default: as many as the trigger chooses.",
    ),
    given_advantage: value(
      z.enum(["joint", "own"]),
      "What helped rollouts are compared with. joint: all of their group, and given tokens count as their rollout does; own: those that go on from the same words, as plain ones are with plain ones (the reward itself where one is alone), and given tokens count that less the mean reward of the plain ones, divided by how many go on from them.",
      { default: "joint" },
    ),
    enter: value(
      z.enum(["all", "successes"]),
      "Which helped rollouts enter the group: all, or those that succeed.",
      {
        default: "all",
      },
    ),
  },
  "Help given to rollouts: when, what, how much, and how it trains.",
  "trigger",
);
