/** Which models a config's algorithm reads, and which channels of the policy: known before a run begins. */
import { z } from "zod";
import { guidanceModels } from "../../core/config/guidanceModels.ts";
import { perKey, perObject } from "../../lib/perObject.ts";
import type { StageBody } from "../../core/config/resolved.ts";
import type { Random } from "../../lib/random.ts";
import type { Model } from "../../core/basics.ts";
import type { Channel } from "../../core/policy.ts";
import type { Objective } from "../../core/loss.ts";
import { authorObjective } from "./authorObjective.ts";
import { learnerObjective } from "./learnerObjective.ts";
import { modelsOf } from "../../core/channelNames.ts";
import { Corrections } from "./corrections.ts";
import { create } from "../../core/create.ts";
import { objectiveOf } from "./objective.ts";
import type { CreateContext } from "../../core/declaration.ts";

const unused: Random = {
  next: () => 0,
  integer: () => 0,
  fork: () => unused,
};

/** Objectives of a block that stages share, by the rollouts that each is for. */
const plannedObjectives = perObject((objective: StageBody["objective"]) =>
  perKey((max_tokens: number, group: number) =>
    objectiveOf(objective, { random: unused, max_tokens, group }),
  ),
);

/** The objective of a stage, to be asked what it needs and never for a loss. */
const plannedObjective = ({ objective, rollout }: StageBody): Objective =>
  plannedObjectives(objective)(rollout.max_tokens, rollout.group);

const plannedCorrections = ({ objective, rollout }: StageBody): Model[] =>
  new Corrections(objective.correction, {
    random: unused,
    max_tokens: rollout.max_tokens,
    group: rollout.group,
  }).models;

const named = z.object({ reference: z.string() });
const corrects = z.object({ model: z.string() });
const judged = z.object({ judge: z.object({ of: z.string() }) });
/** Further judges; those that are servers have no model of the run. */
const alsoJudged = z.object({ also: z.array(z.object({ of: z.string().optional() })) });

/** Rewards that read texts by another model of the run, and the key that names it. */
const comparing: ReadonlyMap<string, string> = new Map([
  ["information_gain", "model"],
  ["reference_probability", "without"],
  ["judge_logit", "of"],
  ["length_vs_reference", "model"],
  ["label_gap", "of"],
  ["near_success", "model"],
  ["elliptical_bonus", "model"],
  ["state_progress", "model"],
]);

/** Models that a reward term names as what it compares with, or as its judge. */
const modelsOfTerm = perObject(({ declaration, params }: StageBody["reward"]["terms"][number]["term"]) => {
  const [read, asked] = [named.safeParse(params), judged.safeParse(params)];
  const more = alsoJudged.safeParse(params);
  const other = params[comparing.get(declaration.name) ?? ""];
  return [
    ...(read.success ? [read.data.reference] : []),
    ...(asked.success ? [asked.data.judge.of] : []),
    ...(more.success ? more.data.also.flatMap(({ of }) => of ?? []) : []),
    ...(typeof other === "string" && other !== "none" && other !== "policy" ? [other] : []),
  ];
});

const written = z.object({ model: z.string() });

const compared = z.object({ similarity: z.object({ by: z.literal("embedding"), model: z.string() }) });

/** Models that write new tasks, or compare texts for them. */
const authors = ({ tasks }: StageBody): Model[] =>
  tasks.flatMap(({ generate }) => {
    if (generate === undefined) return [];
    const { author, transform } = generate;
    const read = author?.declaration.name === "model" ? written.safeParse(author.params) : undefined;
    const near = compared.safeParse(transform.params);
    const models = [
      ...(read?.success === true ? [read.data.model] : []),
      ...(near.success ? [near.data.similarity.model] : []),
    ];
    return models.filter((model) => model !== "policy");
  });

const deltaModels = ({ rollout: { delta_logits: delta } }: StageBody): Model[] =>
  delta === undefined ? [] : [delta.model, delta.base];

/** Models that are read where rollouts are only written and scored. */
export const modelsOfRollouts = (body: StageBody): Model[] => [
  ...body.reward.terms.flatMap(({ term }) => modelsOfTerm(term)),
  ...deltaModels(body),
];

/** Models that the loss or a reward term compares the policy with, and those that help. */
export const modelsRead = (body: StageBody): Model[] => [
  ...new Set([
    ...body.kl.map(({ model }) => model),
    ...modelsOf(plannedObjective(body)),
    ...plannedCorrections(body),
    ...modelsOfRollouts(body),
    ...body.auxiliary.flatMap(({ loss }) => {
      const asked = corrects.safeParse(loss.params);
      return loss.declaration.name === "corrections" && asked.success ? [asked.data.model] : [];
    }),
    ...guidanceModels(body).map(({ model }) => model),
    ...authors(body),
  ]),
];

const outside = ({ rollout }: StageBody): CreateContext => ({
  random: unused,
  max_tokens: rollout.max_tokens,
  group: rollout.group,
});

/** The model of a learner or an author, and what it learns. */
export interface LearnerPlan {
  /** Place in `auxiliary`. */
  readonly index: number;
  readonly kind: "learner" | "author";
  readonly model: Model;
  readonly objective: Objective;
}

/** The learners and authors of a stage, to be asked what they need. */
export const plannedLearners = (body: StageBody): LearnerPlan[] =>
  body.auxiliary.flatMap((config, index) => {
    const loss = create(config.loss, outside(body));
    if (loss.kind !== "learner" && loss.kind !== "author") return [];
    const objective =
      loss.kind === "learner"
        ? learnerObjective(config, outside(body))
        : authorObjective(config, loss, outside(body));
    return [{ index, kind: loss.kind, model: loss.model, objective }];
  });

/** Whether the objective asks for actions that only a learner draws. */
export const drawsActions = (body: StageBody): boolean => plannedObjective(body).needs?.redrawn !== undefined;

/** Models and channels that the objective names. */
export function objectiveNeeds(body: StageBody): {
  readonly models: readonly Model[];
  readonly channels: readonly Channel[];
} {
  const planned = plannedObjective(body);
  return {
    models: modelsOf(planned),
    channels: [...new Set([...planned.channels, ...(planned.needs?.before ?? [])])],
  };
}
