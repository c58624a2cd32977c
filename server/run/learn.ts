/** From rewards to new weights: advantages, then the optimiser steps of the epochs over mini-batches. */
import { withReturns, type Algorithm, type Advantages, type Scored } from "../algorithm.ts";
import { miniBatches, selectRows, selectTokens } from "../batch.ts";
import { rateAt } from "../config/learningRate.ts";
import { randomStream } from "../random.ts";
import type { Batch, Channel, Clock, Models, Random, Stats, UpdateStats } from "../seams.ts";
import type { Collected, Place } from "./collect.ts";
import { selectColumn, selectScored } from "./columns.ts";
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
  readonly touched: Touched;
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

/** A penalty on the reward is part of every row's reward; one in the loss concerns those that train. */
export async function compare(place: Place, { batch, admitted, heads = {} }: Collected): Promise<Compared> {
  const { session, stage, clock } = place;
  const ask = async (rows: Batch): Promise<Stats> => ({
    ...behaviour(rows),
    ...(await scoredBy(session.models, stage.algorithm, rows, clock)),
  });
  const train = selectRows(batch, admitted);
  if (!stage.algorithm.kl.some(({ place: where }) => where === "reward"))
    return {
      all: { ...behaviour(batch), ...heads },
      train: train.rows === 0 ? {} : { ...(await ask(train)), ...selectStats(heads, batch, admitted) },
    };
  const all = { ...(await ask(batch)), ...heads };
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
    // Before its first update of the step the policy is the proximal one, and the iterate before the next.
    const model = models.names.includes(name) || !own.includes(name) ? name : "policy";
    const channels: Channel[] = entropies.includes(name) ? ["logp", "entropy"] : ["logp"];
    const { logp, entropy } = await policy.score(rows, { model, channels });
    if (logp !== undefined) columns[`logp:${name}`] = logp;
    if (entropy !== undefined) columns[`entropy:${name}`] = entropy;
  }
  const { before } = algorithm;
  if (before.length === 0) return columns;
  return { ...columns, ...(await policy.score(rows, { model: "policy", channels: before })) };
}

const selectStats = (stats: Stats, batch: Batch, rows: readonly number[]): Stats =>
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
  const everyone = algorithm.advantages(scored.combined, batch, compared.all, clock);
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
  };
}

/** Rows in an order of their own each epoch, so that mini-batches mix tasks; whole groups or pairs stay together. */
function shuffledRows(rows: number, random: Random): number[] {
  const order = Array.from({ length: rows }, (_, row) => row);
  for (let i = rows - 1; i > 0; i--) {
    const j = random.integer(i + 1);
    [order[i], order[j]] = [order[j]!, order[i]!];
  }
  return order;
}

/** `epochs` passes over the mini-batches, one optimiser step each. None where nothing was admitted. */
export async function learn(where: Place, { train }: StepAdvantages): Promise<UpdateStats[]> {
  const { stage, session, clock, step } = where;
  const { mini_batch, epochs } = stage.config.body.update;
  const updates: UpdateStats[] = [];
  if (train.weights.every((weight) => weight === 0)) return updates;
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
          train,
          part.map((row) => order[row]!),
          updates.length === 0,
          rateAt(stage.config.body.update.schedule, clock),
        ),
      );
    }
  }
  return updates;
}

/** One optimiser step. The first after generation may use the stored behaviour values: the weights have not moved. */
async function update(
  { stage, session, clock }: Place,
  { batch, advantages, weights, old, scored, touched }: Training,
  rows: readonly number[],
  fresh: boolean,
  lrScale: number,
): Promise<UpdateStats> {
  const { algorithm } = stage;
  const policy = session.models.get("policy");
  const own = {
    version: policy.version,
    reuse: true,
    old: selectStats(old, batch, rows),
    advantages: selectTokens(advantages.tokens, batch, rows),
    weights: selectTokens(weights, batch, rows),
    scored: selectScored(scored, rows),
  };
  const plan = { channels: algorithm.channels(clock), unit: algorithm.unit, fresh, lr_scale: lrScale };
  const weigh = touched.watching(algorithm.weigh(own, clock), rows);
  const done = await policy.update(selectRows(batch, rows), plan, weigh);
  algorithm.updated();
  return done;
}
