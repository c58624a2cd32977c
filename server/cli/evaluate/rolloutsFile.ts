/** Every answer of an evaluation as a rollout. */
import { closeSync, openSync, writeSync } from "node:fs";
import { UserError, messageOf } from "../../../shared/lib/errors.ts";
import { writeRollout, type RolloutRow } from "../../../shared/rollouts/rollouts.ts";
import { isParquet } from "../../lib/parquet.ts";
import type { Answered } from "../../run/evaluation/evaluate.ts";
import { evaluationRecord } from "../../run/step/log/rolloutRecord.ts";
import { writeInspectLog, type InspectAbout } from "../../store/exported/inspectLog.ts";
import { rowOf } from "../../store/queries/rolloutRow.ts";
import { writeRollouts } from "../runs/rolloutsTable.ts";

declare const GRADUS_VERSION: string;

export interface RolloutsFile {
  readonly keep: (answered: Answered) => void;
  close(): Promise<void> | void;
}

function* rolloutsOf(answered: Answered): Generator<RolloutRow> {
  for (let row = 0; row < answered.batch.rows; row++) {
    const record = { kind: "rollout" as const, step: 0, index: row, ...evaluationRecord(0, answered, row) };
    yield rowOf(record, true);
  }
}

/** Written at the end: what the file says first depends on all rows. */
function atTheEnd(write: (rows: readonly RolloutRow[]) => Promise<void>): RolloutsFile {
  const rows: RolloutRow[] = [];
  return {
    keep: (answered) => void rows.push(...rolloutsOf(answered)),
    close: () => (rows.length === 0 ? undefined : write(rows)),
  };
}

async function* from<Item>(items: readonly Item[]): AsyncGenerator<Item> {
  yield* items;
}

/** What Inspect's log says of where its answers are from. */
export type Asked = Pick<InspectAbout, "task" | "model">;

/** `.parquet`, a log of Inspect (`.eval`), or one rollout a line, each as it comes. */
export function rolloutsFile(path: string, asked: Asked): RolloutsFile {
  if (isParquet(path)) return atTheEnd((rows) => writeRollouts(path, () => from(rows)));
  const started = new Date();
  if (path.endsWith(".eval"))
    return atTheEnd((rows) =>
      writeInspectLog(path, rows, { ...asked, started, ended: new Date(), version: GRADUS_VERSION }),
    );
  let file: number;
  try {
    file = openSync(path, "w");
  } catch (error) {
    throw new UserError(`the rollouts cannot be written: ${messageOf(error)}`, {
      file: path,
      code: "write",
      cause: error,
      action: "Name a file in a folder that exists and that you may write to.",
    });
  }
  const keep = (answered: Answered): void => {
    for (const row of rolloutsOf(answered)) writeSync(file, `${writeRollout(row)}\n`);
  };
  return { keep, close: () => closeSync(file) };
}
