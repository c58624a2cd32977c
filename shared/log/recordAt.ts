/** Single records of a log by their places, which a reader of whole steps has found before. */
import { closeSync, openSync, readSync } from "node:fs";
import { UserError, messageOf } from "../lib/errors.ts";
import { decodeRecord, prefixBytes } from "./codec.ts";
import { crc32 } from "./crc32.ts";
import { kinds, type LogRecord, type PlacedRecord, type RolloutRecordLog } from "./records.ts";
import { segmentPath } from "./writer.ts";

export interface RecordPlace {
  readonly attempt: number;
  readonly segment: number;
  readonly offset: number;
  /** Of a rollout in another trainer's file: which of those that the record there places, from 0. Absent or null: the record is the rollout. */
  readonly line?: number | null;
}
/** The `line` of a place that is all rollouts which a record places. */
export const everyLine = -1;

/** Most rollouts are smaller: one read for prefix and payload. */
const guessBytes = 8 * 1024;

/** Opens each segment once. */
export class RecordReader {
  private readonly open = new Map<string, number>();

  /** @param runFolder `runs/<id>` */
  constructor(private readonly runFolder: string) {}

  /** @throws UserError when the log has changed since its places were noted */
  rollout(place: RecordPlace): RolloutRecordLog {
    return this.record("rollout", place);
  }

  /** Where rollouts lie in another trainer's file. @throws as `rollout` */
  placed(place: RecordPlace): PlacedRecord {
    return this.record("placed", place);
  }

  private record<Kind extends "rollout" | "placed">(
    kind: Kind,
    place: RecordPlace,
  ): Extract<RolloutRecordLog | PlacedRecord, { kind: Kind }> {
    const file = segmentPath(this.runFolder, place.attempt, place.segment);
    try {
      const bytes = recordBytes(this.descriptor(file), place.offset);
      if (bytes.readUInt8(8) !== kinds[kind]) throw new Error("there is another kind of record");
      const decoded = decodeRecord(kinds[kind], bytes.subarray(prefixBytes));
      if (decoded.state === "record" && isOf(kind, decoded.record)) return decoded.record;
      throw new Error(decoded.state === "malformed" ? decoded.reason : "it is not a rollout");
    } catch (error) {
      throw new UserError(
        `A rollout at byte ${place.offset} of the log cannot be read: ${messageOf(error)}.`,
        {
          file,
          action:
            "The log was changed after it was read: restore the file, or delete the run (gradus runs delete).",
        },
      );
    }
  }

  close(): void {
    for (const descriptor of this.open.values()) closeSync(descriptor);
    this.open.clear();
  }

  private descriptor(file: string): number {
    const known = this.open.get(file);
    if (known !== undefined) return known;
    const descriptor = openSync(file, "r");
    this.open.set(file, descriptor);
    return descriptor;
  }
}

const isOf = <Kind extends LogRecord["kind"]>(
  kind: Kind,
  record: LogRecord,
): record is Extract<LogRecord, { kind: Kind }> => record.kind === kind;

function recordBytes(descriptor: number, offset: number): Buffer {
  const first = Buffer.allocUnsafe(guessBytes);
  const there = readSync(descriptor, first, 0, guessBytes, offset);
  if (there < prefixBytes) throw new Error("the file ends before it");
  const length = prefixBytes + first.readUInt32LE(0);
  const bytes = length <= there ? first.subarray(0, length) : Buffer.allocUnsafe(length);
  if (length > there && readSync(descriptor, bytes, 0, length, offset) < length)
    throw new Error("the file ends within it");
  if (crc32(bytes.subarray(8)) !== bytes.readUInt32LE(4)) throw new Error("its checksum is wrong");
  return bytes;
}
