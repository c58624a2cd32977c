/** Rows to train on, put together of several origins. */
import type { Advantages, Scored } from "../algorithm.ts";
import { joinBatches, joined, selectRows, selectTokens, selectValues } from "../batch.ts";
import { status, type Batch, type Channel, type RewardColumn, type Stats } from "../seams.ts";
import { joinColumns, selectScored } from "./columns.ts";
import type { Training } from "./learn.ts";

type Known = Pick<Scored, "combined" | "success">;

const tokensOf = (parts: readonly Training[]): number =>
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
      tokensOf(parts),
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

function joinedScored(parts: readonly Training[]): Known {
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

/** Several trainings as one; groups of different parts stay apart. */
export function joinTrainings(parts: readonly [Training, ...Training[]]): Training {
  if (parts.length === 1) return parts[0];
  return {
    batch: joinBatches(
      parts.map(({ batch }) => batch),
      parts.flatMap(({ batch }, part) => [...batch.group].map((group) => `${part}/${group}`)),
    ),
    advantages: {
      tokens: floats(parts, ({ advantages }) => advantages.tokens, tokensOf(parts)),
      rows: floats(parts, ({ advantages }) => advantages.rows, rowsOf(parts)),
      exists: bytes(parts, ({ advantages }) => advantages.exists, tokensOf(parts)),
    },
    weights: floats(parts, ({ weights }) => weights, tokensOf(parts)),
    old: joinedStats(parts),
    scored: joinedScored(parts),
    ...(parts[0].touched && { touched: parts[0].touched, places: parts.flatMap(placesOf) }),
  };
}

/** Rows of the first part keep their places; the others are of no row of the step. */
const placesOf = ({ batch, places }: Training, part: number): number[] =>
  Array.from({ length: batch.rows }, (_, row) => (part > 0 ? -1 : (places?.[row] ?? row)));

const selectAdvantages = (advantages: Advantages, batch: Batch, rows: readonly number[]): Advantages => ({
  tokens: selectTokens(advantages.tokens, batch, rows),
  rows: selectValues(advantages.rows, rows),
  exists: Uint8Array.from(selectTokens(Float64Array.from(advantages.exists), batch, rows)),
});

/** Some of the rows. */
export function selectTraining(train: Training, rows: readonly number[]): Training {
  const { batch, advantages, weights, old, scored, touched, places } = train;
  if (rows.length === batch.rows) return train;
  const stats = Object.entries(old).flatMap(([channel, column]) =>
    column === undefined ? [] : [[channel, selectTokens(column, batch, rows)]],
  );
  return {
    batch: selectRows(batch, rows),
    advantages: selectAdvantages(advantages, batch, rows),
    weights: selectTokens(weights, batch, rows),
    old: Object.fromEntries(stats),
    scored: selectScored(scored, rows),
    ...(touched && { touched, places: rows.map((row) => places?.[row] ?? row) }),
  };
}
