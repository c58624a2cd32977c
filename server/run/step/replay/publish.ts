/** A step's own rollouts in the log that runs share. */
import { messageOf } from "../../../../shared/lib/errors.ts";
import type { RolloutRecordLog } from "../../../../shared/log/records.ts";
import type { RolloutRow } from "../../../../shared/rollouts/rollouts.ts";
import { rowOf } from "../../../store/queries/rolloutRow.ts";
import type { StepContext } from "../context.ts";
import { GrowingLog } from "./growingLog.ts";
import { isText, textFields } from "./textRow.ts";

/**
 * Appends them where the config says so: as text where the run itself reads text, else with their tokens.
 * @param records made only where they are written
 * @returns the step's metrics
 */
export function publishStep(
  { session, stage, step }: StepContext,
  records: () => Iterable<RolloutRecordLog>,
): Record<string, number> {
  const { source, memory } = stage.replay;
  const { run } = session;
  if (source.kind !== "log" || !source.publish || run === undefined || !(memory.log instanceof GrowingLog))
    return {};
  const rows = [...records()].flatMap((record) => published(record, source.retokenize));
  let count = 0;
  try {
    count = memory.log.files.publish(run, rows);
  } catch (error) {
    if (!(error instanceof Error && "code" in error)) throw error;
    session.recorder.event(
      "warning",
      "shared-log-unwritten",
      `The step's rollouts are not in ${source.path}: ${messageOf(error)}.`,
      { step, action: "The run goes on. Make the place writable; those of later steps are published then." },
    );
  }
  return { "replay/published": count };
}

/** None of a rollout that others could not train on. */
function published(record: RolloutRecordLog, text: boolean): RolloutRow[] {
  const { curriculum: _, ...row } = rowOf(record, !text);
  if (row.failed !== undefined || row.use !== "train" || (text && !isText(row))) return [];
  return [text ? textFields(row) : row];
}
