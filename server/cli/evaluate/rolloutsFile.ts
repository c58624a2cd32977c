/** Every answer of an evaluation as a rollout. */
import { closeSync, openSync, writeSync } from "node:fs";
import { UserError, messageOf } from "../../../shared/lib/errors.ts";
import { writeRollout, type RolloutRow } from "../../../shared/rollouts/rollouts.ts";
import { isParquet } from "../../lib/parquet.ts";
import type { Answered } from "../../run/evaluation/evaluate.ts";
import { evaluationRecord } from "../../run/step/log/record.ts";
import { rowOf } from "../../store/queries/rolloutRow.ts";
import { writeRollouts } from "../runs/rolloutsTable.ts";

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

/** A Parquet file is written at the end: its columns are those of all rows. */
function rolloutsTable(path: string): RolloutsFile {
  const rows: RolloutRow[] = [];
  return {
    keep: (answered) => void rows.push(...rolloutsOf(answered)),
    close: () => (rows.length === 0 ? undefined : writeRollouts(path, () => from(rows))),
  };
}

async function* from<Item>(items: readonly Item[]): AsyncGenerator<Item> {
  yield* items;
}

/** Writes every answer as it comes, one rollout a line. */
export function rolloutsFile(path: string): RolloutsFile {
  if (isParquet(path)) return rolloutsTable(path);
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
