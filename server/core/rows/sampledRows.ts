/** Batches of what a policy has just generated. */
import type { Lead } from "../slots/guidance.ts";
import { origin, type Batch, type RolloutRecord } from "../rollouts.ts";
import type { Sample } from "../policy.ts";
import { numbered, offsetsOf, raggedOf } from "./batch.ts";

/** One row before it is a row: a sample with what it belongs to. */
export interface SampledRow {
  readonly record: RolloutRecord;
  readonly sample: Pick<Sample, "tokens" | "logp_old" | "logp_sampled" | "entropy" | "versions">;
  /** Token ids in front of the row when it was generated. */
  readonly context: Int32Array;
  /** Replaces `context` in training. */
  readonly train_context?: Int32Array;
  /** Tokens at the row's start that were given, not written; they are not in `sample`. */
  readonly given?: Int32Array;
  /** What help put after them, before what the sample says. */
  readonly lead?: readonly Lead[];
  /** Which tokens of a helped row train; default: those the policy wrote. */
  readonly trains?: "written" | "given" | "all";
}

/** A response that no policy sampled: what a policy would say of its tokens is NaN. @param context token ids in front of it */
export function writtenRow(record: RolloutRecord, tokens: Int32Array, context: Int32Array): SampledRow {
  const none = new Float64Array(tokens.length).fill(Number.NaN);
  const versions = new Int32Array(tokens.length);
  return { record, sample: { tokens, logp_old: none, logp_sampled: none, entropy: none, versions }, context };
}

/** A stretch of a row with an origin of its own. */
interface Piece {
  readonly origin: number;
  readonly trains: boolean;
  readonly values: Partial<SampledRow["sample"]> & { readonly tokens: Int32Array };
}

function piecesOf({ given, lead = [], sample, trains = "written" }: SampledRow): Piece[] {
  const own = (values: Piece["values"]): Piece => ({
    origin: origin.written,
    trains: trains !== "given",
    values,
  });
  const helped = lead.map((part): Piece => {
    if (part.kind === "own") return own(part.sample);
    if (part.kind === "observed")
      return { origin: origin.observed, trains: false, values: { tokens: part.tokens } };
    const { tokens, logp } = part;
    return {
      origin: origin.given,
      trains: trains !== "written",
      values: { tokens, ...(logp && { logp_old: logp }) },
    };
  });
  const begin: Piece[] =
    given === undefined ? [] : [{ origin: origin.given, trains: false, values: { tokens: given } }];
  return [...begin, ...helped, own(sample)];
}

/** A batch of fresh samples. Prefilled tokens come before the generated ones, with NaN where their value is unknown. */
export function batchOfSamples(rows: readonly SampledRow[]): Batch {
  const pieces = rows.map(piecesOf);
  const offsets = offsetsOf(
    pieces.map((row) => row.reduce((sum, { values }) => sum + values.tokens.length, 0)),
  );
  const size = offsets.at(-1)!;
  const tokens = new Int32Array(size);
  const [origins, mask] = [new Uint8Array(size), new Uint8Array(size)];
  const column = (): Float64Array => new Float64Array(size).fill(Number.NaN);
  const floats = { logp_old: column(), logp_sampled: column(), entropy: column() };
  const versions = new Int32Array(size).fill(-1);
  pieces.forEach((row, i) => {
    let at = offsets[i]!;
    for (const { origin: kind, trains, values } of row) {
      const end = at + values.tokens.length;
      tokens.set(values.tokens, at);
      origins.fill(kind, at, end);
      mask.fill(trains ? 1 : 0, at, end);
      for (const key of ["logp_old", "logp_sampled", "entropy"] as const)
        if (values[key] !== undefined) floats[key].set(values[key], at);
      if (values.versions !== undefined) versions.set(values.versions, at);
      at = end;
    }
  });
  const groups = numbered(rows.map(({ record }) => record.group));
  return {
    rows: rows.length,
    offsets,
    tokens,
    origin: origins,
    mask,
    columns: { ...floats, versions },
    context: raggedOf(rows.map(({ context }) => context)),
    ...(rows.some(({ train_context }) => train_context !== undefined)
      ? { trainContext: raggedOf(rows.map(({ context, train_context }) => train_context ?? context)) }
      : {}),
    ...groups,
    records: rows.map(({ record }) => record),
  };
}
