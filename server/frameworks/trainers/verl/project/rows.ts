/** train.parquet and val.parquet: rows in the form that verl's RLHFDataset reads. */
import type { JsonObject } from "../../../../../shared/lib/json.ts";
import type { Drawn } from "../../../carried/rows.ts";

export type Split = "train" | "val";

interface RowAsked {
  /** The system message of a chat. */
  readonly system: string | undefined;
  readonly split: Split;
  readonly index: number;
}

/** A row a task. Its fields are JSON text, which keeps them whatever forms other rows have. */
export function rowOf({ task, arm }: Drawn, { system, split, index }: RowAsked): JsonObject {
  const { prompt, answer = null, data, source } = task;
  return {
    data_source: source,
    prompt: [
      ...(system === undefined ? [] : [{ role: "system", content: system }]),
      { role: "user", content: prompt },
    ],
    reward_model: { style: "rule", ground_truth: answer ?? "" },
    extra_info: { split, index, gradus: JSON.stringify({ prompt, answer, source, arm, data }) },
  };
}
