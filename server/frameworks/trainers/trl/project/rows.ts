/** train.parquet: a task's fields are columns, which TRL hands to rewards. */
import type { JsonObject } from "../../../../../shared/lib/json.ts";
import type { Drawn } from "../../../carried/rows.ts";

/** Columns of TRL's own. */
const taken: ReadonlySet<string> = new Set([
  "prompt",
  "prompts",
  "completion",
  "completions",
  "completion_ids",
]);

/** The fields of the task's data, with the answer that its rewards compare with. */
export function rowOf({ task: { prompt, answer, data, source }, arm }: Drawn): JsonObject {
  const fields = Object.fromEntries(Object.entries(data).filter(([key]) => !taken.has(key)));
  const own = fields["answer"];
  return {
    prompt,
    ...fields,
    ...(answer === undefined || own !== undefined ? {} : { answer }),
    ...(answer === undefined || own === undefined || own === answer ? {} : { gradus_answer: answer }),
    gradus_source: source,
    gradus_arm: arm,
  };
}
