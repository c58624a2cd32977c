/** train.parquet and val.parquet: rows in the form that OpenRLHF's PromptDataset reads. */
import type { JsonObject } from "../../../../../shared/lib/json.ts";
import type { Drawn } from "../../../carried/rows.ts";

export type Split = "train" | "val";

interface RowAsked {
  /** Prompts are the messages of a chat, the system message first. */
  readonly chats: boolean;
  readonly system: string | undefined;
  readonly split: Split;
  readonly index: number;
}

/** The columns that the flags name. */
export const promptKey = "prompt";
export const labelKey = "gradus";

/** A row a task. What the reward reads of it is the label, as JSON; evaluations are by source. */
export function rowOf({ task, arm }: Drawn, { chats, system, split, index }: RowAsked): JsonObject {
  const { prompt, answer = null, data, source } = task;
  const messages = [
    ...(system === undefined ? [] : [{ role: "system", content: system }]),
    { role: "user", content: prompt },
  ];
  return {
    datasource: source,
    [promptKey]: chats ? messages : prompt,
    [labelKey]: JSON.stringify({ prompt, answer, source, arm, data, split, index }),
  };
}
