/** A head that learns labels of steps: by regression, or as a probability where it is squashed. */
import { headChannel } from "../../../core/channelNames.ts";
import type { Models, Stats } from "../../../core/policy.ts";
import { status, type Learner, type RewardColumn, type Rewards } from "../../../core/reward.ts";
import type { Batch } from "../../../core/rollouts.ts";
import { labelsOf } from "../models/lesson.ts";
import { stepsOf } from "./stepScores.ts";

interface StepLesson {
  readonly model: string;
  readonly head: string;
  readonly squash: "none" | "sigmoid";
  /** The term with the labels; undefined: the first with a value. */
  readonly from: string | undefined;
  readonly who: string;
}

/** Tokens of the batch that end a step with a label, and the labels. */
function labelled(
  column: RewardColumn,
  batch: Batch,
): { readonly places: number[]; readonly labels: number[] } {
  const [places, labels]: [number[], number[]] = [[], []];
  for (let row = 0; row < batch.rows; row++) {
    if (column.status[row] !== status.value) continue;
    const values = column.values.subarray(column.offsets[row], column.offsets[row + 1]);
    const steps = stepsOf(batch, row);
    // One value of a row with steps is of the whole response.
    const ends = values.length === steps.length ? steps : steps.slice(-1);
    ends.forEach(([, to], k) => {
      if (Number.isNaN(values[k]!)) return;
      places.push(batch.offsets[row]! + to - 1);
      labels.push(values[k]!);
    });
  }
  return { places, labels };
}

/** Mean of ½(v − y)², or of the cross-entropy of σ(v) against a label in [0, 1]; and ∂/∂v at the places. */
function lossOf(
  values: Float64Array,
  { places, labels }: { readonly places: readonly number[]; readonly labels: readonly number[] },
  squash: StepLesson["squash"],
): { readonly loss: number; readonly gradient: Float64Array } {
  const gradient = new Float64Array(values.length);
  let loss = 0;
  places.forEach((place, i) => {
    const [value, label] = [values[place]!, labels[i]!];
    if (squash === "none") {
      loss += (value - label) ** 2 / 2;
      gradient[place] = (value - label) / places.length;
    } else {
      // log(1 + e^v) − y v, without overflow.
      loss += Math.max(value, 0) + Math.log1p(Math.exp(-Math.abs(value))) - label * value;
      gradient[place] = (1 / (1 + Math.exp(-value)) - label) / places.length;
    }
  });
  return { loss: loss / places.length, gradient };
}

async function learnSteps(
  { model, head, squash, from, who }: StepLesson,
  models: Models,
  batch: Batch,
  rewards: Rewards,
): Promise<Readonly<Record<string, number>>> {
  const lesson = labelled(labelsOf(rewards, from, who), batch);
  if (lesson.places.length === 0) return {};
  const channel = headChannel(head);
  const plan = { channels: [channel], unit: "sequence" as const };
  const done = await models.get(model).update(batch, plan, (now: Stats) => {
    const { loss, gradient } = lossOf(now[channel]!, lesson, squash);
    return { loss, gradients: { [channel]: gradient } };
  });
  return { loss: done.loss, grad_norm: done.grad_norm, labels: lesson.places.length };
}

export const stepLearner = (lesson: StepLesson, mode: "online" | "after"): Learner => ({
  model: lesson.model,
  when: mode === "online" ? "before_advantage" : "after_advantage",
  train: (models, batch, rewards) => learnSteps(lesson, models, batch, rewards),
});
