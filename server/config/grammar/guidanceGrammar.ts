/** The keys of `guidance`. */
import { z } from "zod";
import { short, slot, value, whole } from "./fields.ts";
import type { Field } from "./shape.ts";

export const guidanceContexts = z.enum(["keep", "strip"]);
export const guidancePlaces = z.enum(["replace", "append"]);
export const guidanceTrains = z.enum(["auto", "written", "given", "all"]);
export const givenAdvantages = z.enum(["joint", "own"]);
export const guidanceEnters = z.enum(["all", "successes"]);

export const guidanceField: Field = short(
  "trigger",
  {
    trigger: slot("guidance_trigger", "Which rollouts are helped."),
    source: slot("guidance_source", "What they are helped with."),
    amount: slot("guidance_amount", "How much of it they get, and in how many rounds."),
    ratio: slot("guidance_ratio", "What the ratio of helped rollouts is against."),
    context: value(
      guidanceContexts,
      "keep: helped rollouts train behind the prompt that they were written behind; strip: behind the task's own, without the help.",
    ),
    place: value(
      guidancePlaces,
      "replace: helped rollouts take the places of those chosen by the trigger; append: they join the group.",
    ),
    trains: value(
      guidanceTrains,
      "Which tokens of a helped rollout train, before masks: those the policy wrote, those that were given, or all. auto: written ones, and all of a rollout that somebody else wrote to its end.",
    ),
    rollouts: value(
      whole(1),
      "Helped rollouts of a group, at most; default: as many as the trigger chooses.",
    ),
    given_advantage: value(
      givenAdvantages,
      "What helped rollouts are compared with. joint: all of their group, and given tokens count as their rollout does; own: those that go on from the same words, as plain ones are with plain ones (the reward itself where one is alone), and given tokens count that less the mean reward of the plain ones, divided by how many go on from them.",
    ),
    enter: value(guidanceEnters, "Which helped rollouts enter the group: all, or those that succeed."),
  },
  "Help given to rollouts: when, what, how much, and how it trains.",
);
