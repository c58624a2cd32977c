/** From rewards to new weights: advantages, then the optimiser steps of the epochs over mini-batches. */
import type { Compared, Collected, Place, StepAdvantages } from "./context.ts";
import type { Algorithm } from "../../algorithm/algorithm.ts";
import { isNought } from "../../algorithm/advantages/tokenColumn.ts";
import { areAll, miniBatches, selectRows } from "../../core/rows/batch.ts";
import { rateAt } from "../../core/blocks/learningRate.ts";
import { randomStream, type Random } from "../../lib/random.ts";
import { readerName, readerOf } from "../../core/rows/reader.ts";
import { otherHead } from "../../methods/objective/values/otherHeads.ts";
import { headChannel } from "../../methods/objective/values/valueParams.ts";
import type { Clock } from "../../core/basics.ts";
import type { Batch } from "../../core/rollouts.ts";
import type { Channel, Models, Stats, UpdateStats } from "../../core/policy.ts";
import type { HeadOf } from "../../core/loss.ts";
import { joinedLoss, type LossPart } from "./parts.ts";
import { mismatchedRatios } from "./mismatchedRows.ts";
import { selectStats, updateOf, type Training } from "./training.ts";

const behaviour = (batch: Batch): Stats =>
  batch.columns.logp_old === undefined ? {} : { logp: batch.columns.logp_old };

/** Columns of generation, and what the models that the step names say of the rows. */
export async function generated({ session, stage, clock }: Place, rows: Batch): Promise<Stats> {
  return { ...behaviour(rows), ...(await scoredBy(session.models, stage.algorithm, rows, clock)) };
}

/** A penalty on the reward is part of every row's reward; one in the loss concerns those that train. */
export async function compare(
  place: Place,
  { batch, admitted, judgements = {} }: Collected,
): Promise<Compared> {
  const { stage } = place;
  const ask = (rows: Batch): Promise<Stats> => generated(place, rows);
  const train = selectRows(batch, admitted);
  if (!stage.algorithm.kl.some(({ place: where }) => where === "reward"))
    return {
      all: { ...behaviour(batch), ...judgements },
      train: train.rows === 0 ? {} : { ...(await ask(train)), ...selectStats(judgements, batch, admitted) },
    };
  const all = { ...(await ask(batch)), ...judgements };
  return { all, train: selectStats(all, batch, admitted) };
}

/** Words for the policy as the step found it, unless `models` has one of that name. */
const own: readonly string[] = ["proximal", "previous"];

/** What the models that the step names say of the rows. */
async function scoredBy(models: Models, algorithm: Algorithm, rows: Batch, clock: Clock): Promise<Stats> {
  const columns: Partial<Record<Channel, Float64Array>> = {};
  const { models: compared, entropies, heads, before } = algorithm.needs(clock);
  const policy = models.get("policy");
  for (const name of new Set([...compared, ...entropies])) {
    const reader = readerOf(name);
    // Rows without other contexts are read behind nothing else.
    if (reader.behind !== undefined && rows.contexts?.[reader.behind] === undefined) continue;
    // Before its first update of the step the policy is the proximal one, and the iterate before the next.
    const known = models.names.includes(reader.model) || !own.includes(reader.model);
    const model = known ? name : readerName({ ...reader, model: "policy" });
    const channels: Channel[] = entropies.includes(name) ? ["logp", "entropy"] : ["logp"];
    const { logp, entropy } = await policy.score(rows, { model, channels });
    if (logp !== undefined) columns[`logp:${name}`] = logp;
    if (entropy !== undefined) columns[`entropy:${name}`] = entropy;
  }
  Object.assign(columns, await headsOf(models, heads, rows));
  if (before.length === 0) return columns;
  return { ...columns, ...(await policy.score(rows, { model: "policy", channels: before })) };
}

/** What heads of other models say of the rows. @param name of a head's column */
export async function headsOf(
  models: Models,
  heads: readonly HeadOf[],
  rows: Batch,
  name: (of: HeadOf) => Channel = otherHead,
): Promise<Stats> {
  const columns: Partial<Record<Channel, Float64Array>> = {};
  for (const model of new Set(heads.map((one) => one.model))) {
    const own = heads.filter((one) => one.model === model);
    const channels = own.map(({ head }) => headChannel(head));
    const found = await models
      .get(models.names.includes(model) ? model : "policy")
      .score(rows, { model, channels });
    own.forEach((one, i) => (columns[name(one)] = found[channels[i]!]!));
  }
  return columns;
}

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
 * @param fresh the weights have not moved since these rows were written
 */
export async function learn(
  where: Place,
  { train }: Pick<StepAdvantages, "train">,
  fresh = true,
): Promise<UpdateStats[]> {
  const { stage, session, clock, step } = where;
  const { mini_batch, epochs } = stage.config.body.update;
  const updates: UpdateStats[] = [];
  if (isNought(train.weights)) return aside(where, train);
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
        await update(
          where,
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
async function update(
  where: Place,
  train: Training,
  rows: readonly number[],
  fresh: boolean,
  lrScale: number,
): Promise<UpdateStats> {
  const { stage, session, clock } = where;
  const { algorithm } = stage;
  const { channels, unit } = algorithm.needs(clock);
  const policy = session.models.get("policy");
  const { batch, touched, places, beside = [], factor } = train;
  const weigh = algorithm.weigh({ ...updateOf(train, rows), version: policy.version, reuse: true }, clock);
  const watched = touched?.watching(
    weigh,
    rows.map((row) => places?.[row] ?? row),
  );
  const main: LossPart = {
    name: "policy",
    batch: await withMismatched(where, areAll(rows, batch) ? batch : selectRows(batch, rows)),
    channels,
    weigh: watched ?? weigh,
    weight: factor ?? 1,
  };
  const whole = joinedLoss([main, ...beside]);
  const plan = {
    channels: whole.channels,
    unit,
    fresh: fresh && beside.length === 0,
    lr_scale: lrScale,
    ...stage.auxiliary.privacy(where),
  };
  const done = await policy.update(whole.batch, plan, whole.weigh);
  algorithm.updated();
  return done;
}

/** The weights as they are, seen on prompts with the responses of others, where the objective compares with these. */
async function withMismatched({ stage, session, clock }: Place, batch: Batch): Promise<Batch> {
  const { mismatched } = stage.algorithm.needs(clock);
  if (mismatched === undefined) return batch;
  const mismatched_log_ratio = await mismatchedRatios(session.models, batch, mismatched);
  return { ...batch, rowColumns: { ...batch.rowColumns, mismatched_log_ratio } };
}

/** What stands beside rollouts of which none trains still does. */
async function aside(where: Place, { beside = [] }: Training): Promise<UpdateStats[]> {
  if (beside.length === 0) return [];
  const { stage, session, clock } = where;
  const { batch, channels, weigh } = joinedLoss(beside);
  const plan = {
    channels,
    unit: "sequence" as const,
    lr_scale: rateAt(stage.config.body.update.schedule, clock),
    ...stage.auxiliary.privacy(where),
  };
  return [await session.models.get("policy").update(batch, plan, weigh)];
}
