/** Terms whose model learns from the rollouts it pays: which labels it learns from, and one update of it. */
import { UserError } from "../../shared/errors.ts";
import {
  status,
  type Batch,
  type Channel,
  type Clock,
  type Combined,
  type Model,
  type Models,
  type Objective,
  type RewardColumn,
  type Rewards,
  type Stats,
} from "../seams.ts";

/** Channels of a model of the registry, or of a snapshot of the policy such as its reference. */
export const scoreBy = (
  models: Models,
  model: Model,
  batch: Batch,
  channels: readonly Channel[],
): Promise<Stats> =>
  models.get(models.names.includes(model) ? model : "policy").score(batch, { model, channels });

/** The term whose values are the labels: by name, else the first that says something. */
function labelsOf({ terms }: Rewards, name: string | undefined, who: string): RewardColumn {
  const found =
    name === undefined
      ? terms.find((term) => term.status.includes(status.value))
      : terms.find((term) => term.name === name);
  if (found !== undefined) return found;
  throw new UserError(
    name === undefined
      ? `${who} learns from another reward term, and there is none with a value`
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

/** Every row with a token that counts has the same share, in equal parts for its tokens. */
function shares(weights: Float64Array, { rows, offsets }: Batch): Float64Array {
  const counts = Int32Array.from({ length: rows }, (_, row) =>
    weights.subarray(offsets[row], offsets[row + 1]).reduce((sum, weight) => sum + weight, 0),
  );
  const counted = counts.reduce((sum, count) => sum + (count > 0 ? 1 : 0), 0);
  const result = new Float64Array(weights.length);
  for (let row = 0; row < rows; row++)
    for (let t = offsets[row]!; t < offsets[row + 1]!; t++)
      if (weights[t] !== 0) result[t] = 1 / (counts[row]! * counted);
  return result;
}

export interface Lesson {
  readonly model: Model;
  readonly objective: Objective;
  /** The term that the labels come from; undefined: the first with a value. */
  readonly from: string | undefined;
  /** What the config calls the term that learns. */
  readonly who: string;
}

/** One optimiser step of a term's model on the rows that have a label. */
export async function learnFrom(
  { model, objective, from, who }: Lesson,
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
  const factors = shares(weights, batch);
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
