/** Kept rollouts as JSON and arrays, for checkpoints: what comes back is what went in, bit by bit. */
import { z } from "zod";
import { joinBatches, joined } from "../../core/rows/joinBatches.ts";
import { selectRows } from "../../core/rows/batch.ts";
import { rowColumnsBy, tokenColumns } from "../../core/rows/columns.ts";
import type { Json } from "../../../shared/lib/json.ts";
import type { Level, Saved } from "../../core/basics.ts";
import type { Batch, RolloutRecord } from "../../core/rollouts.ts";
import type { RewardColumn } from "../../core/reward.ts";
import type { KeptRow } from "./keptRow.ts";

type Arrays = NonNullable<Saved["arrays"]>;

/** A number that JSON may not know. */
const wire = (value: number): Json => (Number.isFinite(value) ? value : String(value));
const number = z.union([z.number(), z.enum(["NaN", "Infinity", "-Infinity"]).transform(Number)]);

const levels: readonly Level[] = ["response", "turn", "step", "token"];
const termSchema = z.object({
  name: z.string(),
  level: z.string().transform((text) => levels.find((level) => level === text) ?? "response"),
  status: z.number(),
  values: z.array(number),
  error: z.string().optional(),
});
const rowSchema = z.object({
  record: z.custom<RolloutRecord>((value) => typeof value === "object" && value !== null),
  step: z.number(),
  group: z.string(),
  reward: number,
  success: z.number(),
  left: z.boolean(),
  draws: z.number(),
  settled: z.boolean().optional(),
  terms: z.array(termSchema),
});

const plainTerm = (term: RewardColumn): Json => {
  const error = term.errors.get(0);
  return {
    name: term.name,
    level: term.level,
    status: term.status[0]!,
    values: [...term.values].map(wire),
    ...(error === undefined ? {} : { error }),
  };
};

function termOf({ name, level, status, values, error }: z.output<typeof termSchema>): RewardColumn {
  return {
    name,
    level,
    status: Uint8Array.of(status),
    offsets: Int32Array.of(0, values.length),
    values: Float64Array.from(values),
    errors: new Map(error === undefined ? [] : [[0, error]]),
  };
}

export function savedRows(rows: readonly KeptRow[]): { json: Json; arrays: Arrays } {
  if (rows.length === 0) return { json: [], arrays: {} };
  const batch = joinBatches(
    rows.map(({ batch }) => batch),
    rows.map(({ group }) => group),
  );
  const records: Json = JSON.parse(JSON.stringify(rows.map(({ batch }) => batch.records[0]!)));
  const list = Array.isArray(records) ? records : [];
  const json = rows.map(({ step, group, reward, success, left, draws, settled, terms }, i): Json => ({
    record: list[i]!,
    step,
    group,
    reward: wire(reward),
    success,
    left,
    draws,
    ...(settled === true && { settled }),
    terms: terms.map(plainTerm),
  }));
  const advantages = joined(
    rows.map(({ advantages }) => advantages),
    new Float64Array(batch.tokens.length),
  );
  return { json, arrays: { ...arraysOf(batch), advantages } };
}

function arraysOf(batch: Batch): Arrays {
  const { offsets, tokens, origin, mask, columns, context, trainContext, rowColumns } = batch;
  return {
    offsets,
    tokens,
    origin: Int32Array.from(origin),
    mask: Int32Array.from(mask),
    ...columns,
    context_offsets: context.offsets,
    context: context.values,
    ...(trainContext === undefined
      ? {}
      : { train_offsets: trainContext.offsets, train_context: trainContext.values }),
    ...rowColumns,
  };
}

export function takenUp({ json, arrays = {} }: Saved): KeptRow[] {
  const rows = z.array(rowSchema).parse(json);
  if (rows.length === 0) return [];
  const batch = batchOf(
    arrays,
    rows.map(({ record }) => record),
  );
  const advantages = floats(arrays, "advantages") ?? new Float64Array(batch.tokens.length).fill(Number.NaN);
  return rows.map(({ record: _, terms, settled, ...row }, i) => ({
    ...row,
    ...(settled === true && { settled }),
    terms: terms.map(termOf),
    batch: selectRows(batch, [i]),
    advantages: advantages.slice(batch.offsets[i], batch.offsets[i + 1]),
  }));
}

const floats = (arrays: Arrays, name: string): Float64Array | undefined =>
  arrays[name] === undefined ? undefined : Float64Array.from(arrays[name]);
const integers = (arrays: Arrays, name: string): Int32Array | undefined =>
  arrays[name] === undefined ? undefined : Int32Array.from(arrays[name]);
const none = new Int32Array();

function batchOf(arrays: Arrays, records: readonly RolloutRecord[]): Batch {
  const train = integers(arrays, "train_context");
  return {
    rows: records.length,
    offsets: integers(arrays, "offsets") ?? none,
    tokens: integers(arrays, "tokens") ?? none,
    origin: Uint8Array.from(arrays["origin"] ?? []),
    mask: Uint8Array.from(arrays["mask"] ?? []),
    columns: tokenColumns(
      (name) => floats(arrays, name),
      (name) => integers(arrays, name),
    ),
    context: {
      offsets: integers(arrays, "context_offsets") ?? none,
      values: integers(arrays, "context") ?? none,
    },
    ...(train && { trainContext: { offsets: integers(arrays, "train_offsets") ?? none, values: train } }),
    ...rowColumnsBy((name) => floats(arrays, name)),
    group: Int32Array.from(records.keys()),
    groups: records.length,
    records,
  };
}

const fileSchema = z.array(z.union([z.number(), z.object({ draws: z.number(), settled: z.literal(true) })]));

/** Of a file's rows: how often each was drawn, and the advantages that were computed for good. */
export function savedOfFile(rows: readonly KeptRow[]): { json: Json; arrays: Arrays } {
  const settled = rows.filter((row) => row.settled === true).map(({ advantages }) => advantages);
  const size = settled.reduce((sum, { length }) => sum + length, 0);
  return {
    json: rows.map((row) => (row.settled === true ? { draws: row.draws, settled: true } : row.draws)),
    arrays: settled.length === 0 ? {} : { advantages: joined(settled, new Float64Array(size)) },
  };
}

/** Puts it back onto the file's rows, read again. Of a file that has other rows now it knows nothing. */
export function takeUpFile(rows: readonly KeptRow[], { json, arrays = {} }: Saved): void {
  const advantages = floats(arrays, "advantages") ?? new Float64Array();
  const list = fileSchema.parse(json);
  if (list.length !== rows.length) return;
  let at = 0;
  list.forEach((saved, i) => {
    const row = rows[i]!;
    row.draws = typeof saved === "number" ? saved : saved.draws;
    if (typeof saved === "number") return;
    row.settled = true;
    row.advantages = advantages.slice(at, (at += row.advantages.length));
  });
}
