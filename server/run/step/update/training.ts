/** Rows to train on, put together of several origins. */
import { columnOfAdvantages } from "../../../algorithm/advantages/advantageColumns.ts";
import { PerRow } from "../../../algorithm/perRow.ts";
import { RowAdvantages } from "../../../algorithm/advantages/overTokens.ts";
import { selectTokenColumn, tokensOf, type TokenColumn } from "../../../algorithm/advantages/tokenColumn.ts";
import type { Advantages } from "../../../algorithm/advantages/tokenAdvantages.ts";
import type { Scores } from "../../../algorithm/rewards/rewards.ts";
import type { Update } from "../../../algorithm/loss/loss.ts";
import { joinBatches, joined } from "../../../core/rows/joinBatches.ts";
import { selectRows, selectTokens, selectValues } from "../../../core/rows/batch.ts";
import type { Batch } from "../../../core/rollouts.ts";
import type { Channel, Stats } from "../../../core/policy.ts";
import { status, type RewardColumn } from "../../../core/reward.ts";
import { joinColumns, selectScored } from "../score/rewardColumns.ts";
import type { LossPart } from "./lossParts.ts";
import type { Touched } from "./touched.ts";

/** What the admitted rows train with. */
export interface Training {
  readonly batch: Batch;
  readonly advantages: Advantages;
  /** Mask × token weighting. */
  readonly weights: TokenColumn;
  /** `logp` of the behaviour model and `logp:<model>` of those that KL terms name. */
  readonly old: Stats;
  readonly scored: Pick<Scores, "combined" | "success">;
  /** Per row, which losses it moves; default: the objective. */
  readonly routes?: Uint8Array | undefined;
  /** Filled by the updates. */
  readonly touched?: Touched;
  /** The row of `touched` that each row is, −1 where it is none; default: its own number. */
  readonly places?: readonly number[];
  /** Losses on rows of their own that join every optimiser step. */
  readonly others?: readonly LossPart[];
  /** Factor on the loss of these rows; default 1. */
  readonly factor?: number;
}

/** What one optimiser step on some of the rows weighs, in the order given. */
export const updateOf = (
  { batch, advantages, weights, old, scored, routes }: Training,
  rows: readonly number[],
): Update => ({
  old: selectStats(old, batch, rows),
  advantages: selectTokenColumn(columnOfAdvantages(advantages), batch, rows),
  weights: selectTokenColumn(weights, batch, rows),
  scored: selectScored(scored, rows),
  routes: routes && Uint8Array.from(rows, (row) => routes[row]!),
});

/** Channels of some of a batch's rows. */
export const selectStats = (stats: Stats, batch: Batch, rows: readonly number[]): Stats =>
  Object.fromEntries(
    Object.entries(stats).flatMap(([channel, column]) =>
      column === undefined ? [] : [[channel, selectTokens(column, batch, rows)]],
    ),
  );

type RowScores = Pick<Scores, "combined" | "success">;

const sizeOf = (parts: readonly Training[]): number =>
  parts.reduce((sum, { batch }) => sum + batch.tokens.length, 0);
const rowsOf = (parts: readonly Training[]): number => parts.reduce((sum, { batch }) => sum + batch.rows, 0);

const floats = (
  parts: readonly Training[],
  of: (part: Training) => Float64Array,
  size: number,
): Float64Array => joined(parts.map(of), new Float64Array(size));
const bytes = (parts: readonly Training[], of: (part: Training) => Uint8Array, size: number): Uint8Array =>
  joined(parts.map(of), new Uint8Array(size));

/** A channel that one part lacks is NaN on its rows. */
function joinedStats(parts: readonly Training[]): Stats {
  const channels = new Set(
    parts.flatMap(({ old }) => Object.keys(old).filter((name): name is Channel => name in old)),
  );
  const columns = [...channels].map((channel): [Channel, Float64Array] => [
    channel,
    floats(
      parts,
      ({ old, batch }) => old[channel] ?? new Float64Array(batch.tokens.length).fill(Number.NaN),
      sizeOf(parts),
    ),
  ]);
  return Object.fromEntries(columns);
}

/** A column of a source that some rows do not have: it does not apply to them. */
const absent = (name: string, rows: number): RewardColumn => ({
  name,
  level: "response",
  status: new Uint8Array(rows).fill(status.none),
  offsets: Int32Array.from({ length: rows + 1 }, (_, row) => row),
  values: new Float64Array(rows).fill(Number.NaN),
  errors: new Map(),
});

function joinedScored(parts: readonly Training[]): RowScores {
  const names = [...new Set(parts.flatMap(({ scored }) => scored.combined.sources.map(({ name }) => name)))];
  const sources = parts.map(({ scored, batch }) =>
    names.map((name) => scored.combined.sources.find((one) => one.name === name) ?? absent(name, batch.rows)),
  );
  return {
    combined: {
      sources: joinColumns(sources),
      total: floats(parts, ({ scored }) => scored.combined.total, rowsOf(parts)),
      errored: bytes(parts, ({ scored }) => scored.combined.errored, rowsOf(parts)),
    },
    success: bytes(parts, ({ scored }) => scored.success, rowsOf(parts)),
  };
}

/** A number a row where every part has one. */
function joinedWeights(parts: readonly Training[], { offsets }: Batch): TokenColumn {
  const rows = parts.flatMap(({ weights }) => (weights instanceof PerRow ? [weights.rows] : []));
  if (rows.length === parts.length)
    return new PerRow(joined(rows, new Float64Array(offsets.length - 1)), offsets);
  return floats(parts, ({ weights }) => tokensOf(weights), sizeOf(parts));
}

function joinedAdvantages(parts: readonly Training[], batch: Batch): Advantages {
  const rows = floats(parts, ({ advantages }) => advantages.rows, batch.rows);
  if (parts.every(({ advantages }) => advantages.perRow !== undefined)) return new RowAdvantages(rows, batch);
  return {
    tokens: floats(parts, ({ advantages }) => advantages.tokens, sizeOf(parts)),
    rows,
    exists: bytes(parts, ({ advantages }) => advantages.exists, sizeOf(parts)),
  };
}

/** Several trainings as one; groups of different parts stay apart. */
export function joinTrainings(parts: readonly [Training, ...Training[]]): Training {
  if (parts.length === 1) return parts[0];
  const batch = joinBatches(
    parts.map((part) => part.batch),
    parts.flatMap((part, i) => [...part.batch.group].map((group) => `${i}/${group}`)),
  );
  return {
    batch,
    advantages: joinedAdvantages(parts, batch),
    weights: joinedWeights(parts, batch),
    old: joinedStats(parts),
    scored: joinedScored(parts),
    ...(parts[0].touched && { touched: parts[0].touched, places: parts.flatMap(placesOf) }),
  };
}

/** Rows of the first part keep their places; the others are of no row of the step. */
const placesOf = ({ batch, places }: Training, part: number): number[] =>
  Array.from({ length: batch.rows }, (_, row) => (part > 0 ? -1 : (places?.[row] ?? row)));

function selectAdvantages(advantages: Advantages, batch: Batch, rows: readonly number[]): Advantages {
  const own = selectValues(advantages.rows, rows);
  if (advantages.perRow !== undefined) return new RowAdvantages(own, selectRows(batch, rows));
  return {
    tokens: tokensOf(selectTokenColumn(columnOfAdvantages(advantages), batch, rows)),
    rows: own,
    exists: Uint8Array.from(selectTokens(Float64Array.from(advantages.exists), batch, rows)),
  };
}

/** Some of the rows. */
export function selectTraining(train: Training, rows: readonly number[]): Training {
  const { batch, advantages, weights, old, scored, touched, places } = train;
  if (rows.length === batch.rows) return train;
  return {
    batch: selectRows(batch, rows),
    advantages: selectAdvantages(advantages, batch, rows),
    weights: selectTokenColumn(weights, batch, rows),
    old: selectStats(old, batch, rows),
    scored: selectScored(scored, rows),
    ...(touched && { touched, places: rows.map((row) => places?.[row] ?? row) }),
  };
}
