/** Rows of rollouts that lie in another trainer's files, with their groups, and their advantages where a config gives them. */
import type { RecordPlace } from "../../../shared/log/recordAt.ts";
import type { PlacedRecord } from "../../../shared/log/records.ts";
import { estimatesOf } from "../../analysis/imported/estimates.ts";
import { groupRecords, withAdvantage } from "../../analysis/imported/groupRecords.ts";
import { readPlacedStep } from "../../analysis/imported/placedStep.ts";
import type { RunConfig } from "../../core/config/runConfig.ts";
import type { Database } from "../drivers/database.ts";
import { runFolder } from "../files.ts";
import { recordedConfig } from "../imported/recordedConfig.ts";
import type { Apply } from "../ingest/apply.ts";
import { RunRows } from "../ingest/runState.ts";

export class PlacedRows {
  private readonly runs: RunRows;
  /** Of the run that was asked for last. */
  private loaded: { readonly run: string; readonly config: RunConfig | undefined } | undefined;

  constructor(
    database: Database,
    private readonly store: string,
    private readonly apply: Apply,
  ) {
    this.runs = new RunRows(database);
  }

  /** Inside a transaction. @param place of the record @throws UserError where the file has changed */
  add(run: string, place: RecordPlace, record: PlacedRecord): void {
    const { rows, lines, broken, file } = readPlacedStep(runFolder(this.store, run), record);
    const config = this.configOf(run);
    const estimates = config === undefined ? undefined : estimatesOf(config, rows, file);
    const { attempt } = place;
    if (record.use === undefined)
      for (const group of groupRecords(rows, estimates)) this.apply.rows.group(run, attempt, group);
    rows.forEach((row, at) =>
      this.apply.rows.rollout(
        run,
        { ...place, line: lines[at]! },
        {
          kind: "rollout",
          step: record.step,
          index: row.index,
          row: withAdvantage(row, at, estimates),
          lengths: {},
        },
      ),
    );
    for (const { line, message } of broken)
      this.apply.rows.event(run, attempt, {
        kind: "event",
        step: record.step,
        time: Date.now(),
        severity: "warning",
        name: "placed/line",
        message: `${file}: rollout ${line} of the step was left out: ${message}`,
      });
  }

  /** As it was imported with; undefined: without one, or it can no longer be read. */
  private configOf(run: string): RunConfig | undefined {
    if (this.loaded?.run !== run) this.loaded = { run, config: this.load(run) };
    return this.loaded.config;
  }

  private load(run: string): RunConfig | undefined {
    return recordedConfig(runFolder(this.store, run), this.runs.read(run)?.authored ?? "");
  }
}
