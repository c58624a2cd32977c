/** train.parquet and val.parquet: rows in the form that SkyRL's PromptDataset reads. */
import type { JsonObject } from "../../../../../shared/lib/json.ts";
import type { Drawn } from "../../../carried/rows.ts";

interface RowAsked {
  /** The system message of a chat. */
  readonly system: string | undefined;
  readonly split: "train" | "val";
}

/** A row a task. Columns other than the prompt reach the environment; a task's fields are JSON text, whatever others have. */
export function rowOf({ task, arm }: Drawn, { system, split }: RowAsked): JsonObject {
  const { prompt, answer = null, data, source } = task;
  return {
    prompt: [
      ...(system === undefined ? [] : [{ role: "system", content: system }]),
      { role: "user", content: prompt },
    ],
    data_source: source,
    split,
    gradus: JSON.stringify({ prompt, answer, source, arm, data }),
  };
}
