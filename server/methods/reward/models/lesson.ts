/** Terms whose model learns from the rollouts it scores: which labels it learns from, and one update of it. */
import { z } from "zod";
import { param, type MethodContext } from "../../../core/declaration.ts";
import { UserError } from "../../../../shared/lib/errors.ts";
import { firstTrained, spansOf } from "../../../core/rows/spans.ts";
import type { Clock, Model } from "../../../core/basics.ts";
import type { Batch } from "../../../core/rollouts.ts";
import { readerOf, type Channel, type Models, type Stats } from "../../../core/policy.ts";
import {
  status,
  type Combined,
  type Learner,
  type RewardColumn,
  type RewardTerm,
  type Rewards,
} from "../../../core/reward.ts";
import type { Objective } from "../../../core/loss.ts";

/** Channels of a model of the registry, or of a snapshot of the policy such as its reference. */
export const scoreBy = (
  models: Models,
  model: Model,
  batch: Batch,
  channels: readonly Channel[],
): Promise<Stats> => readerOf(models, model).score(batch, { model, channels });

/** The term whose values are the labels: by name, else the first that says something. */
export function labelsOf({ terms }: Rewards, name: string | undefined, who: string): RewardColumn {
  const found =
    name === undefined
      ? // A term that scores before it learns has values of its own by then.
        terms.find((term) => term.name !== who && term.status.includes(status.value))
      : terms.find((term) => term.name === name);
  if (found !== undefined) return found;
  throw new UserError(
    name === undefined
      ? `${who} learns from another reward term, and no other term has a value`
      : `${who} learns from the reward term ${name}, which does not exist`,
    {
      code: "labels-missing",
      action: `Name one in \`from\`: ${terms.map((term) => term.name).join(", ") || "add a term that needs no model"}.`,
    },
  );
}

/** One label a row: the term's value, the sum of its values below response level; NaN where it has none. */
function combinedOf(labels: RewardColumn, rows: number): Combined {
  const total = Float64Array.from({ length: rows }, (_, row) => {
    if (labels.status[row] !== status.value) return Number.NaN;
    let sum = 0;
    for (let i = labels.offsets[row]!; i < labels.offsets[row + 1]!; i++) sum += labels.values[i]!;
    return sum;
  });
  return { sources: [labels], total, errored: new Uint8Array(rows) };
}

/** Trained actions of each row: 1, or how many turns, steps or tokens of it train. */
function actionsOf(weights: Float64Array, batch: Batch, each: Action): Int32Array {
  const actions = new Int32Array(batch.rows);
  const { starts, ends, rows } = spansOf(batch, each === "rollout" ? "response" : each);
  starts.forEach((start, k) => {
    if (firstTrained(weights, start, ends[k]!) >= 0) actions[rows[k]!]! += 1;
  });
  return actions;
}

type Action = "rollout" | "turn" | "step" | "token";

/** Every action with a token that counts has the same share; a row's shares go in equal parts to its tokens. */
export function normalised(weights: Float64Array, batch: Batch, each: Action): Float64Array {
  const { offsets, rows } = batch;
  const actions = actionsOf(weights, batch, each);
  const all = actions.reduce((sum, count) => sum + count, 0);
  const result = new Float64Array(weights.length);
  for (let row = 0; row < rows; row++) {
    const own = weights.subarray(offsets[row], offsets[row + 1]);
    const tokens = own.reduce((sum, weight) => sum + (weight === 0 ? 0 : 1), 0);
    own.forEach((weight, t) => {
      if (weight !== 0) result[offsets[row]! + t] = actions[row]! / (all * tokens);
    });
  }
  return result;
}

export interface Lesson {
  readonly model: Model;
  /** The objective that it learns by, as the slot names it. */
  readonly loss: { readonly use: string; readonly params: Readonly<Record<string, unknown>> };
  /** The term that the labels come from; undefined: the first with a value. */
  readonly from: string | undefined;
}

interface BoundLesson {
  readonly model: Model;
  readonly objective: Objective;
  readonly from: string | undefined;
  /** What the config calls the term that learns. */
  readonly who: string;
}

const updates = z.enum(["online", "after", "frozen"]);
type Update = z.output<typeof updates>;

/** Whether and when the model of a term learns. @param does what it then does */
export const update = (usual: Update, does: string) =>
  param(
    updates.default(usual),
    `online: before it scores a step, ${does}; after: it scores the step first, and then learns.`,
  );

/** The part of a term that makes its model learn, around the advantages of each step. */
export function learning(
  mode: Update,
  { model, loss: { use, params }, from }: Lesson,
  context: MethodContext,
): Pick<RewardTerm, "learners"> {
  if (mode === "frozen") return {};
  const objective = context.objective?.(use, params);
  if (objective === undefined) throw new Error(`internal: no dependency provides the objective ${use}`);
  const lesson = { model, objective, from, who: context.name ?? model };
  return { learners: [learnerBy(lesson, mode === "online" ? "before_advantage" : "after_advantage")] };
}

/** A model that learns by an objective from rollouts and what they are scored. */
export const learnerBy = (lesson: BoundLesson, when: Learner["when"]): Learner => ({
  model: lesson.model,
  when,
  train: (models, batch, rewards, clock) => learnFrom(lesson, models, batch, rewards, clock),
});

/** One optimiser step of a term's model on the rows that have a label. */
async function learnFrom(
  { model, objective, from, who }: BoundLesson,
  models: Models,
  batch: Batch,
  rewards: Rewards,
  clock: Clock,
): Promise<Readonly<Record<string, number>>> {
  const combined = combinedOf(labelsOf(rewards, from, who), batch.rows);
  const weights = Float64Array.from(batch.mask);
  for (let row = 0; row < batch.rows; row++)
    if (Number.isNaN(combined.total[row]!)) weights.fill(0, batch.offsets[row]!, batch.offsets[row + 1]!);
  if (weights.every((weight) => weight === 0)) return {};
  const factors = normalised(weights, batch, "rollout");
  const old: Partial<Record<Channel, Float64Array>> = {};
  for (const other of objective.models ?? []) {
    const { logp } = await scoreBy(models, other, batch, ["logp"]);
    if (logp !== undefined) old[`logp:${other}`] = logp;
  }
  const advantages = new Float64Array(weights.length);
  const plan = { channels: objective.channels, unit: objective.unit };
  const done = await models
    .get(model)
    .update(batch, plan, (now) =>
      objective.loss({ batch, now, old, advantages, rewards: combined, weights, factors, clock }),
    );
  return { loss: done.loss, grad_norm: done.grad_norm, ...done.metrics };
}
