/** Batches of a few rows written by hand, for tests. */
import type { Task } from "../../server/core/task.ts";
import type { Batch, Ragged, RolloutRecord, TokenColumns } from "../../server/core/rollouts.ts";

export const task = (id: string, more: Partial<Task> = {}): Task => ({
  id,
  source: "toy",
  env: "toy",
  prompt: "",
  data: {},
  ...more,
});

export interface RowSpec {
  readonly tokens: readonly number[];
  readonly context: readonly number[];
  readonly trainContext?: readonly number[];
  readonly origin?: readonly number[];
  readonly group?: number;
  readonly pair?: number;
  readonly record?: Partial<RolloutRecord>;
}

export function ragged(rows: readonly (readonly number[])[]): Ragged {
  const offsets = new Int32Array(rows.length + 1);
  rows.forEach((row, i) => (offsets[i + 1] = offsets[i]! + row.length));
  return { offsets, values: Int32Array.from(rows.flat()) };
}

const recordOf = (row: RowSpec, index: number): RolloutRecord => ({
  task: task(`t${row.group ?? 0}`),
  arm: "toy",
  group: `g${row.group ?? 0}`,
  index,
  prompt: "",
  response: "",
  finish: "stop",
  source: "self",
  use: "train",
  ...row.record,
});

/** A batch from rows; the mask is what is written in rows that train. */
export function batchOf(
  rows: readonly RowSpec[],
  columns: TokenColumns = {},
  more: Partial<Batch> = {},
): Batch {
  const { offsets, values } = ragged(rows.map((row) => row.tokens));
  const records = rows.map(recordOf);
  const origin = Uint8Array.from(rows.flatMap((row) => row.origin ?? row.tokens.map(() => 0)));
  const trains = rows.flatMap((row, i) => row.tokens.map(() => (records[i]!.use === "train" ? 1 : 0)));
  const group = Int32Array.from(rows, (row) => row.group ?? 0);
  const stripped = rows.some((row) => row.trainContext !== undefined);
  return {
    rows: rows.length,
    offsets,
    tokens: values,
    origin,
    columns,
    records,
    group,
    mask: Uint8Array.from(trains, (train, t) => (origin[t] === 0 ? train : 0)),
    context: ragged(rows.map((row) => row.context)),
    ...(stripped ? { trainContext: ragged(rows.map((row) => row.trainContext ?? row.context)) } : {}),
    groups: Math.max(...group) + 1,
    ...(rows.some((row) => row.pair !== undefined)
      ? { pair: Int32Array.from(rows, (row) => row.pair ?? -1) }
      : {}),
    ...more,
  };
}
