/** Written texts as rows: every token counts, and nothing is known of how they were generated. */
import { origin, type Batch, type RolloutRecord } from "../rollouts.ts";
import type { Task } from "../task.ts";
import { raggedOf } from "./batch.ts";

interface TextRow {
  /** Token ids in front of the text. */
  readonly context: ArrayLike<number>;
  readonly tokens: ArrayLike<number>;
  readonly record: RolloutRecord;
}

/** Each row is a group of its own. */
export function batchOfTexts(rows: readonly TextRow[]): Batch {
  const { offsets, values } = raggedOf(rows.map(({ tokens }) => tokens));
  return {
    rows: rows.length,
    offsets,
    tokens: values,
    columns: {},
    origin: new Uint8Array(values.length).fill(origin.written),
    mask: new Uint8Array(values.length).fill(1),
    context: raggedOf(rows.map(({ context }) => context)),
    group: Int32Array.from(rows.keys()),
    groups: rows.length,
    records: rows.map(({ record }) => record),
  };
}

/** What is recorded of a response that a data set has. */
export const textRecord = (task: Task, group: number, response: string): RolloutRecord => ({
  task,
  arm: task.source,
  group: String(group),
  index: 0,
  prompt: task.prompt,
  response,
  finish: "stop",
  source: "dataset",
  use: "train",
});
