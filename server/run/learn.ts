/** From rewards to new weights: advantages, then the optimiser steps of the epochs over mini-batches. */
import { advantagesOfRows, withReturns, type Algorithm, type Advantages, type Scored } from "../algorithm.ts";
import { miniBatches, selectRows, selectTokens } from "../batch.ts";
import { rateAt } from "../config/learningRate.ts";
import { randomStream } from "../random.ts";
import { readerName, readerOf } from "../policy/reader.ts";
import { otherHead } from "../objective/otherHeads.ts";
import { headChannel } from "../objective/valueParams.ts";
import type { Batch, Channel, Clock, HeadOf, Models, Random, Stats, UpdateStats } from "../seams.ts";
import type { Collected, Place } from "./collect.ts";
import { selectColumn, selectScored } from "./columns.ts";
import { joinedLoss, type LossPart } from "./parts.ts";
import { mismatchedRatios } from "./mismatchedRows.ts";
import { Touched } from "./touched.ts";

/** What the admitted rows train with. */
export interface Training {
  readonly batch: Batch;
  readonly advantages: Advantages;
  /** Mask × token weighting. */
  readonly weights: Float64Array;
  /** `logp` of the behaviour model and `logp:<model>` of those that KL terms name. */
  readonly old: Stats;
  readonly scored: Pick<Scored, "combined" | "success">;
  /** Filled by the updates. */
  readonly touched?: Touched;
  /** The row of `touched` that each row is, −1 where it is none; default: its own number. */
  readonly places?: readonly number[];
  /** Losses on rows of their own that join every optimiser step. */
  readonly beside?: readonly LossPart[];
  /** Factor on the loss of these rows; default 1. */
  readonly factor?: number;
}
export interface StepAdvantages {
  readonly train: Training;
  /** Of every row, rejected ones included: what the curriculum observes and the log keeps. */
  readonly all: Advantages;
  /** Over every row; 0 on rows that do not train. */
  readonly weights: Float64Array;
}

/** Columns of generation, and the log-probs of other models under `logp:<model>`, for every row that needs them. */
export interface Compared {
  readonly all: Stats;
  readonly train: Stats;
}

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
  const entropies = algorithm.entropies(clock);
  const policy = models.get("policy");
  for (const name of new Set([...algorithm.models(clock), ...entropies])) {
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
  Object.assign(columns, await headsOf(models, algorithm.heads, rows));
  const { before } = algorithm;
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

export const selectStats = (stats: Stats, batch: Batch, rows: readonly number[]): Stats =>
  Object.fromEntries(
    Object.entries(stats).flatMap(([channel, column]) =>
      column === undefined ? [] : [[channel, selectTokens(column, batch, rows)]],
    ),
  );

export function advantagesOf(
  { stage, clock }: Place,
  { batch, scored, admitted }: Collected,
  compared: Compared,
): StepAdvantages {
  const { algorithm } = stage;
  // They are copied before the step ends.
  const everyone = algorithm.advantages(scored.combined, batch, compared.all, clock, true);
  const rows = selectRows(batch, admitted);
  // A spread over the batch is that of the rows that train.
  const own = algorithm.rewards(
    scored.rewards.terms.map((term) => selectColumn(term, admitted)),
    rows,
    clock,
  );
  const advantages = algorithm.advantages(own.combined, rows, compared.train, clock);
  const weights = algorithm.weights(rows, advantages, compared.train, clock);
  algorithm.observe(scored.combined, batch);
  return {
    train: {
      batch: withReturns(rows, advantages),
      advantages,
      weights,
      old: compared.train,
      scored: own,
      touched: new Touched(rows),
    },
    all: merged(everyone, advantages, batch, admitted),
    weights: scattered(weights, new Float64Array(batch.tokens.length), batch, admitted),
  };
}

/** Writes the values of chosen rows into a column over all rows. */
function scattered<Column extends Float64Array | Uint8Array>(
  values: Column,
  into: Column,
  batch: Batch,
  rows: readonly number[],
): Column {
  let at = 0;
  for (const row of rows) {
    const size = batch.offsets[row + 1]! - batch.offsets[row]!;
    into.set(values.subarray(at, at + size), batch.offsets[row]);
    at += size;
  }
  return into;
}

/** Rows that train have the advantages they train with; the others those they would have had. */
function merged(all: Advantages, own: Advantages, batch: Batch, rows: readonly number[]): Advantages {
  const perRow = all.rows.slice();
  rows.forEach((row, i) => (perRow[row] = own.rows[i]!));
  return {
    tokens: scattered(own.tokens, all.tokens.slice(), batch, rows),
    exists: scattered(own.exists, all.exists.slice(), batch, rows),
    rows: perRow,
    ...(all.returns && own.returns && { returns: scattered(own.returns, all.returns.slice(), batch, rows) }),
  };
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
  if (train.weights.every((weight) => weight === 0)) return aside(where, train);
  const routes = stage.algorithm.routes(train.batch, train.scored.success, train.advantages);
  const split = mini_batch !== undefined && mini_batch < train.batch.rows;
  for (let epoch = 0; epoch < epochs; epoch++) {
    const order = split
      ? shuffledRows(train.batch.rows, randomStream(session.config.seed, "mini-batch", step, epoch))
      : [...train.batch.records.keys()];
    const shuffled = selectRows(train.batch, order);
    for (const part of miniBatches(shuffled, mini_batch, stage.algorithm.unit)) {
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

interface Routed extends Training {
  /** Per row, which losses it moves. */
  readonly routes: Uint8Array | undefined;
}

/** One optimiser step. The first after generation may use the stored behaviour values: the weights have not moved. */
async function update(
  where: Place,
  { batch, advantages, weights, old, scored, touched, places, routes, beside = [], factor }: Routed,
  rows: readonly number[],
  fresh: boolean,
  lrScale: number,
): Promise<UpdateStats> {
  const { stage, session, clock } = where;
  const { algorithm } = stage;
  const policy = session.models.get("policy");
  const own = {
    version: policy.version,
    reuse: true,
    old: selectStats(old, batch, rows),
    advantages: advantagesOfRows(advantages, batch, rows),
    weights: selectTokens(weights, batch, rows),
    scored: selectScored(scored, rows),
    routes: routes && Uint8Array.from(rows, (row) => routes[row]!),
  };
  const weigh = algorithm.weigh(own, clock);
  const watched = touched?.watching(
    weigh,
    rows.map((row) => places?.[row] ?? row),
  );
  const main: LossPart = {
    name: "policy",
    batch: await withMismatched(where, selectRows(batch, rows)),
    channels: algorithm.channels(clock),
    weigh: watched ?? weigh,
    weight: factor ?? 1,
  };
  const whole = joinedLoss([main, ...beside]);
  const plan = {
    channels: whole.channels,
    unit: algorithm.unit,
    fresh: fresh && beside.length === 0,
    lr_scale: lrScale,
    ...stage.auxiliary.privacy(where),
  };
  const done = await policy.update(whole.batch, plan, whole.weigh);
  algorithm.updated();
  return done;
}

/** The weights as they are, seen on prompts with the responses of others, where the objective compares with these. */
async function withMismatched({ stage, session }: Place, batch: Batch): Promise<Batch> {
  const { mismatched } = stage.algorithm;
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
