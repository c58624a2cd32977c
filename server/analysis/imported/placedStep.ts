/** The rollouts of a step that another trainer wrote, out of its file: parsed when they are asked for. */
import { closeSync, existsSync, fstatSync, readSync } from "node:fs";
import { basename, join, resolve } from "node:path";
import { UserError, messageOf } from "../../../shared/lib/errors.ts";
import { isObject, type JsonObject } from "../../../shared/lib/json.ts";
import { crc32 } from "../../../shared/log/crc32.ts";
import type { PlacedRecord } from "../../../shared/log/records.ts";
import type { GroupedBy } from "../../../shared/run/origin.ts";
import { parseJson, type RolloutRow } from "../../../shared/rollouts/rollouts.ts";
import { openRegular } from "../../lib/inputFile.ts";
import { parquetRows } from "../../lib/parquet.ts";
import { trlRows } from "./trlRows.ts";
import { hasUid, verlRows } from "./verlRows.ts";
import { fromAnySystem } from "../../../shared/lib/slashes.ts";

export interface PlacedStep {
  readonly rows: readonly RolloutRow[];
  /** Which of the placed rollouts each row is, from 0. */
  readonly lines: readonly number[];
  /** Placed lines that are no rollout after all. */
  readonly broken: readonly { readonly line: number; readonly message: string }[];
  readonly file: string;
  readonly groups: GroupedBy;
}

/** Where its file is now: next to the run's folder as it was, where it was, or with the run that came in one file. */
export function placedFile(
  runFolder: string,
  { relative, file }: Pick<PlacedRecord, "relative" | "file">,
): string {
  const moved = resolve(runFolder, fromAnySystem(relative));
  const carried = join(runFolder, "rollouts", basename(fromAnySystem(file)));
  return [moved, file, carried].find(existsSync) ?? file;
}

/**
 * @param runFolder `runs/<id>`
 * @throws UserError where the file is gone, or is not what it was
 */
export function readPlacedStep(runFolder: string, record: PlacedRecord): PlacedStep {
  const file = placedFile(runFolder, record);
  return record.trainer === "verl" ? ofLines(file, record) : ofParquet(file, record);
}

function ofLines(file: string, record: PlacedRecord): PlacedStep {
  const { offset, length, crc } = record.columns;
  if (offset === undefined || length === undefined || crc === undefined)
    throw new UserError("The run's log does not say where its rollouts are.", {
      file,
      code: "placed-unread",
    });
  const bytes = wholeFile(file, record);
  const entries: JsonObject[] = [];
  const lines: number[] = [];
  const broken: { line: number; message: string }[] = [];
  for (let line = 0; line < record.count; line++) {
    const text = bytes.subarray(offset[line]!, offset[line]! + length[line]!);
    if ((crc32(text) | 0) !== crc[line]) throw changed(file, record, `rollout ${line} is another`);
    try {
      entries.push(objectOf(text.toString("utf8")));
      lines.push(line);
    } catch (error) {
      broken.push({ line, message: messageOf(error) });
    }
  }
  const groups = entries.some(hasUid) ? "uid" : "prompt";
  return { rows: verlRows(entries, record.step, record), lines, broken, file, groups };
}

function ofParquet(file: string, record: PlacedRecord): PlacedStep {
  if (crc32(wholeFile(file, record)) !== record.crc) throw changed(file, record, "its bytes are others");
  const rows = trlRows(parquetRows(file), record.step, record);
  return { rows, lines: rows.map((_, line) => line), broken: [], file, groups: "neighbours" };
}

function objectOf(text: string): JsonObject {
  const value = parseJson(text);
  if (isObject(value)) return value;
  throw new TypeError("a line must be a JSON object");
}

function wholeFile(file: string, record: PlacedRecord): Buffer {
  let descriptor: number;
  try {
    descriptor = openRegular(file);
  } catch (error) {
    throw new UserError(
      `The rollouts of step ${record.step} cannot be read: their file is gone (${messageOf(error)}).`,
      { file, code: "placed-missing", cause: error, action: again },
    );
  }
  try {
    const { size } = fstatSync(descriptor);
    if (size !== record.size) throw changed(file, record, `it had ${record.size} bytes and has ${size}`);
    const bytes = Buffer.allocUnsafe(size);
    let done = 0;
    while (done < size) {
      const read = readSync(descriptor, bytes, done, size - done, done);
      if (read === 0) throw changed(file, record, "it was cut short");
      done += read;
    }
    return bytes;
  } finally {
    closeSync(descriptor);
  }
}

const again =
  "Restore the file, or import the folder again: gradus runs import. With --copy the run keeps the files. Other steps can still be read: --step.";

/** Nothing that may be wrong is shown. */
const changed = (file: string, { step }: PlacedRecord, how: string): UserError =>
  new UserError(
    `The rollouts of step ${step} are not shown: their file has changed since it was imported (${how}).`,
    {
      file,
      code: "placed-changed",
      action: again,
    },
  );
