/** Rollouts that lie near a config: of its last run in a store, else what its trainer has dumped. Nothing is started or written. */
import { existsSync } from "node:fs";
import { dirname, resolve } from "node:path";
import { findStore } from "../../shared/daemon/findStore.ts";
import { UserError } from "../../shared/lib/errors.ts";
import { attemptsOf, logStart, readCommitted } from "../../shared/log/reader.ts";
import type { RolloutRow } from "../../shared/rollouts/rollouts.ts";
import { readPlacedStep } from "../analysis/imported/placedStep.ts";
import type { RecordedRollouts } from "../analysis/rewardChecks/standInTasks.ts";
import type { RunConfig } from "../core/config/runConfig.ts";
import { readRunFile, runFolder, runIds } from "./files.ts";
import { findOutput } from "./imported/findOutput.ts";
import { placeFile } from "./imported/placeFiles.ts";
import { termsOf } from "./imported/rewardTerms.ts";
import { LineScanner } from "./imported/scanLines.ts";
import { noMetrics } from "./imported/trainerMetrics.ts";
import { relativePath } from "../../shared/lib/slashes.ts";

/** Bytes of a log that are read: its first steps. */
const most = 1024 * 1024;

/** undefined: there are none, or none that can be read. */
export function recordedNear(config: RunConfig): RecordedRollouts | undefined {
  try {
    return ofLastRun(config) ?? ofDump(config);
  } catch (error) {
    // They stand in for something else: what is wrong with them is not what was asked.
    if (error instanceof UserError) return undefined;
    throw error;
  }
}

function ofLastRun({ file }: RunConfig): RecordedRollouts | undefined {
  const store = findStore(file);
  if (!existsSync(store)) return undefined;
  const runs = runIds(store)
    .flatMap((id) => readRunFile(runFolder(store, id)) ?? [])
    .filter((run) => resolve(run.file) === resolve(file))
    .sort((one, other) => (one.createdAt < other.createdAt ? 1 : -1));
  for (const { id } of runs) {
    const rows = rowsOf(runFolder(store, id));
    if (rows.length > 0) return { rows, from: `the run ${id}` };
  }
  return undefined;
}

function rowsOf(folder: string): readonly RolloutRow[] {
  const [attempt] = attemptsOf(folder);
  if (attempt === undefined) return [];
  return readCommitted(folder, attempt, logStart, most).steps.flatMap(({ records }) =>
    records.flatMap((record): readonly RolloutRow[] => {
      if (record.kind === "placed") return readPlacedStep(folder, record).rows;
      return record.kind === "rollout" ? [record.row] : [];
    }),
  );
}

/** Of the last step that verl or TRL has dumped below the configuration's folder. */
function ofDump(config: RunConfig): RecordedRollouts | undefined {
  const folder = dirname(resolve(config.file));
  const output = findOutput(folder);
  const file = output.files.at(-1);
  if (file === undefined) return undefined;
  const record = placeFile(
    {
      trainer: output.trainer,
      terms: termsOf(output, noMetrics, config),
      group: output.trainer === "trl" ? config.top.rollout.group : undefined,
      evaluated: [],
      progress: () => undefined,
    },
    new LineScanner(),
    { ...file, relative: relativePath(output.folder, file.file) },
    { halfWritten: [], unscored: [] },
  );
  return { rows: readPlacedStep(output.folder, record).rows, from: relativePath(folder, file.file) };
}
