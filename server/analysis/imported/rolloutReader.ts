/** A run's rollouts by their places: records of its log, or lines of another trainer's files. */
import { everyLine, RecordReader, type RecordPlace } from "../../../shared/log/recordAt.ts";
import type { PlacedRecord, RolloutRecordLog } from "../../../shared/log/records.ts";
import { readPlacedStep, type PlacedStep } from "./placedStep.ts";

const recordOf = (row: PlacedStep["rows"][number]): RolloutRecordLog => ({
  kind: "rollout",
  step: row.step,
  index: row.index,
  row,
  columns: {},
});

/** The step that was read last: rollouts are asked for a page at a time. */
interface LastStep {
  readonly key: string;
  readonly byLine: ReadonlyMap<number, PlacedStep["rows"][number]>;
}

export class RolloutReader {
  private readonly log: RecordReader;
  private last: LastStep | undefined;

  /** @param runFolder `runs/<id>` */
  constructor(private readonly runFolder: string) {
    this.log = new RecordReader(runFolder);
  }

  /** @throws UserError where the log, or the file that it names, has changed since the place was noted */
  rollout(place: RecordPlace): RolloutRecordLog {
    const { line = null } = place;
    if (line === null) return this.log.rollout(place);
    const row = this.step(place).get(line);
    if (row === undefined) throw new Error(`there is no rollout ${line} at byte ${place.offset} of the log`);
    return recordOf(row);
  }

  /** Of a place that may be a whole step's. @throws as `rollout` */
  rollouts(place: RecordPlace): readonly RolloutRecordLog[] {
    return place.line === everyLine ? [...this.step(place).values()].map(recordOf) : [this.rollout(place)];
  }

  placed(place: RecordPlace): PlacedRecord {
    return this.log.placed(place);
  }

  close(): void {
    this.log.close();
    this.last = undefined;
  }

  private step(place: RecordPlace): LastStep["byLine"] {
    const key = `${place.attempt} ${place.segment} ${place.offset}`;
    if (this.last?.key !== key) {
      const { rows, lines } = readPlacedStep(this.runFolder, this.log.placed(place));
      this.last = { key, byLine: new Map(lines.map((line, at) => [line, rows[at]!])) };
    }
    return this.last.byLine;
  }
}
