/** The policy's update: epochs over mini-batches, one optimiser step each. */
import type { StepContext, StepAdvantages } from "../context.ts";
import { isNought } from "../../../algorithm/advantages/tokenColumn.ts";
import { areAll, miniBatches, selectRows } from "../../../core/rows/batch.ts";
import { rateAt } from "../../../core/blocks/learningRate.ts";
import { randomStream, type Random } from "../../../lib/random.ts";
import type { Batch } from "../../../core/rollouts.ts";
import type { UpdateStats } from "../../../core/policy.ts";
import { joinedLoss, type LossPart } from "./lossParts.ts";
import { mismatchedRatios } from "../score/mismatchedRows.ts";
import { updateOf, type Training } from "./training.ts";

/** Rows in an order of their own each epoch, so that mini-batches mix tasks; whole groups or pairs stay together. */
export function shuffledRows(rows: number, random: Random): number[] {
  const order = Array.from({ length: rows }, (_, row) => row);
  for (let i = rows - 1; i > 0; i--) {
    const j = random.integer(i + 1);
    [order[i], order[j]] = [order[j]!, order[i]!];
  }
  return order;
}

/**
 * `epochs` passes over the mini-batches, one optimiser step each. None where nothing was admitted.
 * @param fresh the weights have not moved since these rows were generated
 */
export async function updatePolicy(
  context: StepContext,
  { train }: Pick<StepAdvantages, "train">,
  fresh = true,
): Promise<UpdateStats[]> {
  const { stage, session, clock, step } = context;
  const { mini_batch, epochs } = stage.config.body.update;
  const updates: UpdateStats[] = [];
  if (isNought(train.weights)) return otherLosses(context, train);
  const { unit } = stage.algorithm.needs(clock);
  const routes = stage.algorithm.routes(train.batch, train.scored.success, train.advantages);
  const split = mini_batch !== undefined && mini_batch < train.batch.rows;
  for (let epoch = 0; epoch < epochs; epoch++) {
    const order = split
      ? shuffledRows(train.batch.rows, randomStream(session.config.seed, "mini-batch", step, epoch))
      : [...train.batch.records.keys()];
    const shuffled = split ? selectRows(train.batch, order) : train.batch;
    for (const part of miniBatches(shuffled, mini_batch, unit)) {
      session.signal.throwIfAborted();
      updates.push(
        await optimizerStep(
          context,
          { ...train, routes },
          part.map((row) => order[row]!),
          fresh && updates.length === 0,
          rateAt(stage.config.body.update.schedule, clock),
        ),
      );
    }
  }
  return updates;
}

/** One optimiser step. The first after generation may use the stored behaviour values: the weights have not moved. */
async function optimizerStep(
  context: StepContext,
  train: Training,
  rows: readonly number[],
  fresh: boolean,
  lrScale: number,
): Promise<UpdateStats> {
  const { stage, session, clock } = context;
  const { algorithm } = stage;
  const { channels, unit } = algorithm.needs(clock);
  const policy = session.models.get("policy");
  const { batch, touched, places, others = [], factor } = train;
  const weigh = algorithm.weigh({ ...updateOf(train, rows), version: policy.version, reuse: true }, clock);
  const watched = touched?.watching(
    weigh,
    rows.map((row) => places?.[row] ?? row),
  );
  const main: LossPart = {
    name: "policy",
    batch: await withMismatched(context, areAll(rows, batch) ? batch : selectRows(batch, rows)),
    channels,
    weigh: watched ?? weigh,
    weight: factor ?? 1,
  };
  const whole = joinedLoss([main, ...others]);
  const plan = {
    channels: whole.channels,
    unit,
    fresh: fresh && others.length === 0 && isOf(policy.version, main.batch),
    lr_scale: lrScale,
    ...stage.auxiliary.privacy(context),
  };
  const done = await policy.update(whole.batch, plan, whole.weigh);
  algorithm.updated();
  return done;
}

/** Whether these weights generated every token that trains: a learner of the policy may have moved them since. */
const isOf = (version: number, { columns: { versions }, mask }: Batch): boolean =>
  versions === undefined || versions.every((one, token) => mask[token] !== 1 || one === version);

/** The weights as they are, seen on prompts with the responses of others, where the objective compares with these. */
async function withMismatched({ stage, session, clock }: StepContext, batch: Batch): Promise<Batch> {
  const { mismatched } = stage.algorithm.needs(clock);
  if (mismatched === undefined) return batch;
  const mismatched_log_ratio = await mismatchedRatios(session.models, batch, mismatched);
  return { ...batch, rowColumns: { ...batch.rowColumns, mismatched_log_ratio } };
}

/** Losses in addition to the objective train, even where none of the step's rollouts does. */
async function otherLosses(context: StepContext, { others = [] }: Training): Promise<UpdateStats[]> {
  if (others.length === 0) return [];
  const { stage, session, clock } = context;
  const { batch, channels, weigh } = joinedLoss(others);
  const plan = {
    channels,
    unit: "sequence" as const,
    lr_scale: rateAt(stage.config.body.update.schedule, clock),
    ...stage.auxiliary.privacy(context),
  };
  return [await session.models.get("policy").update(batch, plan, weigh)];
}
