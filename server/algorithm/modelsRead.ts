/** Which models a config's algorithm reads, and which channels of the policy: known before a run begins. */
import { z } from "zod";
import type { StageBody } from "../config/resolved.ts";
import type { Channel, Model, Objective, Random } from "../seams.ts";
import { Corrections } from "./corrections.ts";
import { objectiveOf } from "./objective.ts";

const unused: Random = {
  next: () => 0,
  integer: () => 0,
  fork: () => unused,
};

/** The objective of a stage, to be asked what it needs and never for a loss. */
const plannedObjective = ({ objective, rollout }: StageBody): Objective =>
  objectiveOf(objective, { random: unused, max_tokens: rollout.max_tokens, group: rollout.group });

const plannedCorrections = ({ objective, rollout }: StageBody): Model[] =>
  new Corrections(objective.correction, {
    random: unused,
    max_tokens: rollout.max_tokens,
    group: rollout.group,
  }).models;

const named = z.object({ reference: z.string() });

/** Models that the loss or a reward term compares the policy with. */
export const modelsRead = (body: StageBody): Model[] => [
  ...new Set([
    ...body.kl.map(({ model }) => model),
    ...(plannedObjective(body).models ?? []),
    ...plannedCorrections(body),
    ...body.reward.terms.flatMap(({ term }) => {
      const read = named.safeParse(term.params);
      return read.success ? [read.data.reference] : [];
    }),
  ]),
];

/** Models and channels that the objective names. */
export function objectiveNeeds(body: StageBody): {
  readonly models: readonly Model[];
  readonly channels: readonly Channel[];
} {
  const { models = [], channels, before = [] } = plannedObjective(body);
  return { models, channels: [...new Set([...channels, ...before])] };
}
